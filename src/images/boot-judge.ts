import { recordIn } from '../lib/foreign-json.ts'
import { isRecord } from '../lib/is-record.ts'
import type { BootReport } from './boot-program.ts'

/** Checks of a started image, in the order of its output. */
export const BOOT_CHECKS = ['guest agent', 'machine-id', 'cloud-init', 'ssh host keys', 'serial console'] as const
export type BootCheck = (typeof BOOT_CHECKS)[number]

/** Something that is not as it must be, and what to do about it. */
export interface BootFinding {
  readonly check: BootCheck
  readonly problem: string
  readonly next: string
}

export interface BootJudgement {
  readonly findings: readonly BootFinding[]
  /** Checks without a result, because the machine sent no data. */
  readonly unknown: readonly BootCheck[]
}

/** The kernel's clock and that of the file system may differ by a moment. */
const SLACK_SECONDS = 5

interface BootedMachine {
  readonly bootedAt: number
  readonly machineId: { readonly writtenAt: number; readonly value: string }
  readonly keys: readonly { readonly writtenAt: number; readonly path: string }[]
  readonly one: (name: string) => string | undefined
}

/** Judges what a started image showed. `instance` is what its seed called it. Pure. */
export function judgeBoot(report: BootReport, instance: string): BootJudgement {
  const inside = report.told === undefined ? undefined : readInside(report.told)
  const findings = [
    ...judgeAgent(report),
    ...(inside === undefined
      ? []
      : [...judgeMachineId(inside), ...judgeCloudInit(inside, instance), ...judgeKeys(inside)]),
    ...(report.agent === 'ended' ? [] : judgeConsole(report)),
  ]
  const unknown: readonly BootCheck[] = inside === undefined ? ['machine-id', 'cloud-init', 'ssh host keys'] : []
  return { findings, unknown }
}

function readInside(text: string): BootedMachine {
  const lines = text.split('\n').map((line) => /^(\S+) ?(.*)$/.exec(line) ?? [])
  const all = (wanted: string) => lines.flatMap(([, name, value = '']) => (name === wanted ? [value] : []))
  const stamped = (value: string) => {
    const [, at, rest = ''] = /^(\d+) ?(.*)$/.exec(value) ?? []
    return { writtenAt: Number(at), rest }
  }
  const { writtenAt, rest } = stamped(all('machine-id')[0] ?? '')
  return {
    bootedAt: Number(all('boot')[0]),
    machineId: { writtenAt, value: rest.trim() },
    keys: all('key')
      .map(stamped)
      .map((key) => ({ writtenAt: key.writtenAt, path: key.rest })),
    one: (name) => all(name)[0],
  }
}

function judgeAgent({ agent, refused, told, said }: BootReport): readonly BootFinding[] {
  const finding = (problem: string, next: string): readonly BootFinding[] => [{ check: 'guest agent', problem, next }]
  if (agent === 'ended')
    return finding(
      `the machine ended before it answered${said.trim() === '' ? '' : `: ${said.trim()}`}`,
      'see in its console why it stopped',
    )
  if (agent === 'silent')
    return finding(
      'it does not answer',
      'if the console shows a login, add the package qemu-guest-agent; if not, the console shows where the boot stops (--timeout gives it longer)',
    )
  if (told !== undefined) return []
  return refused === undefined
    ? finding(
        'it answered, and then stopped before it told what the machine has become',
        'see in its console what happened, or give it longer with --timeout',
      )
    : finding(
        `it answers, and refuses to run a program: ${refused}`,
        'allow guest-exec in /etc/qemu/qemu-ga.conf or /etc/sysconfig/qemu-ga of the image: croft needs it to look into machines',
      )
}

/** Written since the machine was started, by its own clock. */
function isFresh(writtenAt: number, { bootedAt }: BootedMachine): boolean {
  return writtenAt >= bootedAt - SLACK_SECONDS
}

function judgeMachineId(inside: BootedMachine): readonly BootFinding[] {
  const { writtenAt, value } = inside.machineId
  const finding = (problem: string, next: string): readonly BootFinding[] => [{ check: 'machine-id', problem, next }]
  if (!/^[0-9a-f]{32}$/.test(value))
    return finding(
      value === '' ? 'the machine has none after its boot' : `it is "${value.slice(0, 40)}" after the boot`,
      'leave /etc/machine-id in the image as an empty file: systemd fills it at the first boot',
    )
  return isFresh(writtenAt, inside)
    ? []
    : finding(
        `${value} comes from the image: every machine made from it has the same`,
        'empty /etc/machine-id in the image, and remove /var/lib/dbus/machine-id',
      )
}

function judgeCloudInit(inside: BootedMachine, instance: string): readonly BootFinding[] {
  const finding = (problem: string, next: string): BootFinding => ({ check: 'cloud-init', problem, next })
  if (inside.one('cloud-init') === undefined)
    return [finding('it is not in the image', 'add the package cloud-init: machines read their names and keys with it')]
  const result = recordIn(inside.one('result') ?? '')?.v1
  if (!isRecord(result))
    return [
      finding(
        'it has not ended in the time that it had',
        'see in the console what it waits for, or give it longer with --timeout',
      ),
    ]
  const source = String(result.datasource)
  if (!source.startsWith('DataSourceNoCloud') || inside.one('instance-id')?.trim() !== instance)
    return [
      finding(
        `it did not read the seed of this machine (it used ${source})`,
        'allow NoCloud in datasource_list under /etc/cloud/cloud.cfg.d, and leave nothing in /var/lib/cloud',
      ),
    ]
  return errorsOf(result, recordIn(inside.one('status') ?? '')).map((error) =>
    finding(error, 'see /var/log/cloud-init.log in a machine made from the image, and mend its /etc/cloud'),
  )
}

/** Errors that cloud-init lists: those that stopped a part of it, and those that it went on after. */
function errorsOf(result: Record<string, unknown>, status: Record<string, unknown> | undefined): readonly string[] {
  const texts = (value: unknown) => (Array.isArray(value) ? value.map(String) : [])
  const stages = isRecord(status?.v1) ? Object.values(status.v1) : []
  const later = stages.flatMap((stage) =>
    isRecord(stage) && isRecord(stage.recoverable_errors) ? texts(stage.recoverable_errors.ERROR) : [],
  )
  return [...new Set([...texts(result.errors), ...later])]
}

function judgeKeys(inside: BootedMachine): readonly BootFinding[] {
  const finding = (problem: string, next: string): readonly BootFinding[] => [{ check: 'ssh host keys', problem, next }]
  if (inside.one('sshd') === undefined)
    return finding('there is no sshd in the image', 'add the package openssh-server, or nobody can log in over SSH')
  if (inside.keys.length === 0)
    return finding('none were made at the boot', 'let cloud-init make them: its module ssh must run')
  const old = inside.keys.filter(({ writtenAt }) => !isFresh(writtenAt, inside)).map(({ path }) => path)
  return old.length === 0
    ? []
    : finding(
        `${old.join(', ')} ${old.length === 1 ? 'comes' : 'come'} from the image: the owner of one machine could impersonate all`,
        'delete /etc/ssh/ssh_host_* in the image, and leave ssh_deletekeys of cloud-init at true',
      )
}

function judgeConsole({ console: shown }: BootReport): readonly BootFinding[] {
  const finding = (problem: string, next: string): readonly BootFinding[] => [
    { check: 'serial console', problem, next },
  ]
  if (shown.trim() === '')
    return finding(
      'nothing comes on it',
      'let the kernel write there: console=tty0 console=ttyS0,115200 (arm64: ttyAMA0) in its command line',
    )
  return /\blogin:/.test(shown)
    ? []
    : finding(
        'it shows no login',
        'the console must be the last one in the command line of the kernel, so that systemd starts a login there',
      )
}

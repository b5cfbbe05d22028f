import { createHash } from 'node:crypto'
import { architectureOf, programSources } from '../../k3s/artifacts.ts'
import { NODE_CHECK, type NodeCheck, readNodeCheck } from '../../k3s/node-check.ts'
import { NODE_PROGRAM_TEXT } from '../../k3s/programs.ts'
import { cleanText } from '../../lib/clean-text.ts'
import { LIMITS } from '../../lib/limits.ts'
import { type Shell, ShellFailure } from '../../lib/shell.ts'
import type { ClusterDeclaration } from '../../model/estate.ts'
import type { ClusterDeps } from '../cluster-port.ts'
import { type Check, check } from '../port.ts'
import { findChecksum } from './steps/service.ts'

/** The expected state of a future node. */
export interface ExpectedNode {
  readonly node: string
  readonly role: 'server' | 'agent'
  readonly version: string
  /** Times before the request and after the answer: the clock was read in between, and a busy machine is slow. */
  readonly askedMs: number
  readonly answeredMs: number
}

const PROGRAM_SHA256 = createHash('sha256').update(NODE_PROGRAM_TEXT).digest('hex')
/** The space that etcd and K3s's images need; with less it is only a matter of time. */
const DISK_KB = { wrong: 2 * 1024 * 1024, warning: 8 * 1024 * 1024 } as const
/** Certificates and leases fail beyond this. */
const SKEW_MS = 5_000
const REQUIRED = ['systemctl', 'systemd-run', 'journalctl', 'sha256sum', 'base64'] as const

/** Examines one machine of a cluster for everything that would stop K3s there. */
export async function examineNode(
  cluster: ClusterDeclaration,
  node: Pick<ExpectedNode, 'node' | 'role'>,
  shell: Shell,
  deps: ClusterDeps,
  signal: AbortSignal,
): Promise<readonly Check[]> {
  const { version } = cluster.spec
  try {
    const asked = await shell.run(['uname', '-m'], { signal })
    const architecture = architectureOf(asked.stdout.trim()) ?? 'amd64'
    const sources = programSources(cluster.artifacts, version, architecture)
    const clockMs = () => deps.clock.outsideMs?.() ?? deps.clock.now()
    const askedMs = clockMs()
    const ran = await shell.run(['sh', '-c', NODE_CHECK, 'croft', ...sources], { signal, timeoutMs: LIMITS.carryMs })
    const facts = readNodeCheck(ran.stdout)
    if (facts === undefined) {
      const said = cleanText(ran.stderr.trim(), 300) || `code ${ran.code}`
      return [wrong('hosts', 'unreadable', `${node.node} could not be looked at: ${said}`)]
    }
    const judged = judgeNode(facts, { ...node, version, askedMs, answeredMs: clockMs() })
    const checksum = await findChecksum(cluster, deps, version, architecture, signal)
    return 'sha256' in checksum ? judged : [...judged, wrong('version', 'no-checksum', checksum.problem)]
  } catch (error) {
    if (!(error instanceof ShellFailure)) throw error
    return [
      {
        ...wrong('connection', error.code, `${node.node} cannot be reached: ${cleanText(error.message)}`),
        ...(error.code === 'host-key' || error.code === 'denied' ? { authentication: true as const } : {}),
      },
    ]
  }
}

/** Judges the facts of a machine. Pure. */
export function judgeNode(facts: NodeCheck, expected: ExpectedNode): readonly Check[] {
  const { node, role, version, askedMs, answeredMs } = expected
  const one = (name: string) => facts.get(name)?.[0] ?? ''
  const has = new Set(facts.get('has'))
  const runs = facts.get('runs') ?? []
  // A start of K3s may hang for minutes while its node is Ready: the listener is K3s itself.
  const starts = facts.get('starts') ?? []
  const found: Check[] = []
  if (one('uid') !== '0')
    found.push(wrong('privileges', 'not-root', `croft is not root on ${node}`, ['ssh: {sudo: passwordless}']))
  if (architectureOf(one('machine')) === undefined)
    found.push(wrong('hosts', 'architecture', `there is no K3s for ${one('machine')}, which ${node} is`))
  const missing = REQUIRED.filter((name) => !has.has(name))
  if (missing.length > 0) found.push(wrong('hosts', 'missing', `${node} has no ${missing.join(', no ')}`))
  const away = (facts.get('source') ?? []).filter((line) => !line.endsWith(' ok'))
  if (away.length > 0 && away.length === facts.get('source')?.length) {
    const lines = away.map((line) => line.replace(' ', ': '))
    const fix = has.has('curl') || has.has('wget') ? [] : [`apt-get install -y curl   # on ${node}`]
    found.push({ ...wrong('hosts', 'no-source', `${node} cannot fetch K3s ${version}`, fix), details: lines })
  }
  const diskKb = Number(one('disk'))
  const gigabytes = `${(diskKb / 2 ** 20).toFixed(1)} GiB`
  if (diskKb > 0 && diskKb < DISK_KB.wrong)
    found.push(wrong('storages', 'disk', `${node} has ${gigabytes} left for /var/lib; K3s needs more than 2`))
  else if (diskKb > 0 && diskKb < DISK_KB.warning)
    found.push(warning('storages', 'disk', `${node} has ${gigabytes} left for /var/lib; images need several`))
  const theirsMs = Number(one('clock')) * 1000
  const skewMs = theirsMs - Math.min(Math.max(theirsMs, askedMs), answeredMs)
  if (Math.abs(skewMs) > SKEW_MS) {
    const by = `${Math.round(Math.abs(skewMs) / 1000)} s ${skewMs > 0 ? 'ahead' : 'behind'}`
    found.push(
      wrong('clock', 'clock-skew', `the clock of ${node} is ${by}`, [`timedatectl set-ntp true   # on ${node}`]),
    )
  }
  found.push(...cgroupChecks(node, one('cgroup'), one('controllers')))
  const ports = (facts.get('port') ?? []).filter((port) => role === 'server' || port === '10250')
  if (ports.length > 0 && runs.length + starts.length === 0)
    found.push(wrong('networks', 'ports', `on ${node} something else listens on ${ports.join(', ')}, which K3s needs`))
  for (const unit of starts)
    found.push({
      ...warning('hosts', 'starting', `${unit} is still starting on ${node}`),
      details: [`if that lasts, see what it waits for: journalctl -u ${unit}`],
    })
  for (const firewall of facts.get('firewall') ?? [])
    found.push({
      ...warning('networks', 'firewall', `${firewall} is active on ${node}`),
      details: [
        `K3s needs 6443/tcp, 10250/tcp and 8472/udp between nodes${role === 'server' ? ', and 2379-2380/tcp between servers' : ''}`,
      ],
    })
  const program = one('program')
  const placed = program === '' ? 'not there yet' : program === PROGRAM_SHA256 ? 'in place' : 'of another version'
  const worst = found.some(({ level }) => level === 'wrong')
  const up = [...runs.map((unit) => `${unit} runs`), ...starts.map((unit) => `${unit} starts`)].join(', ')
  const state = up === '' ? (worst ? 'not ready for K3s' : 'ready for K3s') : up
  const about = `${node} (${role}): ${state}; croft's program is ${placed}`
  return [check(worst ? 'warning' : 'ok', 'hosts', 'node', about), ...found]
}

function cgroupChecks(node: string, kind: string, controllers: string): readonly Check[] {
  const there = new Set(controllers.split(/\s+/))
  const missing = ['cpu', 'memory', 'pids'].filter((name) => !there.has(name))
  const fix = missing.includes('memory') ? [`cgroup_enable=memory on the kernel's command line of ${node}`] : []
  const old = kind !== '' && kind !== 'cgroup2fs'
  return [
    ...(missing.length > 0
      ? [wrong('hosts', 'cgroups', `${node} has no control group for ${missing.join(', ')}`, fix)]
      : []),
    ...(old
      ? [
          {
            ...warning('hosts', 'cgroup-v1', `${node} has control groups of version 1`),
            details: ['from Kubernetes 1.35 on its kubelet wants fail-cgroupv1=false'],
          },
        ]
      : []),
  ]
}

function wrong(about: Check['about'], code: string, found: string, fix: readonly string[] = []): Check {
  return check('wrong', about, code, found, fix.length === 0 ? {} : { fix })
}

function warning(about: Check['about'], code: string, found: string): Check {
  return check('warning', about, code, found)
}

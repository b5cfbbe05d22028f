import { createHash } from 'node:crypto'
import { defined } from '../../lib/defined.ts'
import { type Shell, ShellFailure } from '../../lib/shell.ts'
import type { Command, SnippetCommand } from '../../model/command.ts'
import { type Destruction, destroying } from '../../model/destruction.ts'
import type { Outcome, Step } from '../../model/step.ts'
import { translate } from './api-errors.ts'
import { isRawDevice } from './doctor/option-privileges.ts'
import { type ApiFields, cleanText, flagOf } from './foreign.ts'
import { textOf } from './option.ts'
import { parseProperties } from './property-string.ts'

const VM_OPTIONS = /^(?:args|affinity|hugepages|keephugepages|arch|hookscript|ivshmem|amd-sev|parallel\d+)$/

/**
 * Moves parameters that only root may write to the SSH lane, each in a separate call after the original one. `config`
 * is the live configuration: it shows what a deletion removes.
 */
export function overRootLane(steps: readonly Step[], externalId: string, config: ApiFields = {}): readonly Step[] {
  return steps.flatMap((step) => split(step, externalId, config))
}

function split(step: Step, externalId: string, config: ApiFields): readonly Step[] {
  if (step.lane !== 'rest') return [step]
  const guest = /^\/nodes\/[^/]+\/(qemu|lxc)(?:\/(\d+)\/config)?$/.exec(step.call.path)
  if (guest === null || (step.verb !== 'create' && step.verb !== 'configure' && step.verb !== 'mark')) return [step]
  const { delete: removed = '', digest, ...params } = step.call.params
  const vm = guest[1] === 'qemu'
  const privileged = flagOf(params.unprivileged ?? config.unprivileged) !== true
  const roots = (name: string, value: string) =>
    vm ? isRootsOfVm(name, value) : isRootsOfContainer(name, value, privileged)
  const own = Object.entries(params).filter(([name, value]) => roots(name, value))
  const gone = removed.split(',').filter((name) => name !== '' && roots(name, textOf(config[name]) ?? ''))
  if (own.length === 0 && gone.length === 0) return [step]
  const others = Object.fromEntries(Object.entries(params).filter(([name, value]) => !roots(name, value)))
  const left = removed.split(',').filter((name) => name !== '' && !gone.includes(name))
  const kept = { ...others, ...(left.length === 0 ? {} : { delete: left.join(',') }) }
  const both = Object.keys(kept).length > 0
  const version = digest === undefined ? {} : { digest }
  const names = [...own.map(([name]) => name), ...gone]
  const asRoot: Step = {
    verb: 'configure',
    summary: `set ${names.join(', ')} of ${vm ? 'VM' : 'container'} ${externalId} on ${step.host} as root, over SSH`,
    lane: 'commands',
    host: step.host,
    queues: [],
    on: `/nodes/${encodeURIComponent(step.host)}/${vm ? 'qemu' : 'lxc'}/${externalId}/config`,
    commands: [
      run([
        vm ? 'qm' : 'pct',
        'set',
        externalId,
        ...own.flatMap(([name, value]) => [`--${name}`, value]),
        ...(gone.length === 0 ? [] : ['--delete', gone.join(',')]),
        ...(both || digest === undefined ? [] : ['--digest', digest]),
      ]),
    ],
    ...(both ? {} : version),
    ...defined({ destroys: step.destroys }),
    disruption: 'none',
  }
  return both ? [{ ...step, call: { ...step.call, params: { ...kept, ...version } } }, asRoot] : [asRoot]
}

function isRootsOfVm(name: string, value: string): boolean {
  return VM_OPTIONS.test(name) || isRawDevice(name, value)
}

function isRootsOfContainer(name: string, value: string, privileged: boolean): boolean {
  if (/^dev\d+$/.test(name) || name === 'hookscript') return true
  if (/^mp\d+$/.test(name)) return (parseProperties(value, 'volume').get('volume') ?? '').startsWith('/')
  if (name !== 'features') return false
  return privileged || [...parseProperties(value, '').keys()].some((feature) => feature !== 'nesting')
}

function run(argv: readonly string[]): Command {
  return { do: 'run', argv }
}

/** Destroys a locked guest as root. An unfinished one names no disks: they are deleted by their own names. */
export function destroyAsRoot(destruction: Destruction): Step {
  const { host, externalId, type } = destruction.observed
  const container = type === 'container'
  return {
    verb: 'delete',
    summary: `destroy ${container ? 'container' : 'VM'} ${externalId} on ${host}, whose creation broke off, as root over SSH`,
    lane: 'commands',
    host,
    queues: [],
    on: `/nodes/${encodeURIComponent(host)}/${container ? 'lxc' : 'qemu'}/${externalId}/`,
    // `pct destroy` has no skiplock, so the lock is lifted first; `pct unlock` fails if an earlier try has lifted it,
    // and `pct destroy` if it could not. A guest's id is digits.
    commands: container
      ? [run(['sh', '-c', `pct unlock ${externalId}; pct destroy ${externalId}`])]
      : [run(['qm', 'destroy', externalId, '--skiplock', '1'])],
    disruption: 'data-loss',
    ...destroying(destruction),
  }
}

/** Runs one command on the host. As for a call, the outcome distinguishes what may have run from what cannot have. */
export async function performAsRoot(step: Step, open: () => Shell | undefined, signal: AbortSignal): Promise<Outcome> {
  const shell = open()
  if (shell === undefined) {
    const message = `could not ${step.summary}: no Host declares how ${step.host} is reached over SSH`
    return { result: 'refused', refusal: { reason: 'NoSshLane', meaning: 'stalled', message } }
  }
  try {
    const [command] = step.lane === 'commands' ? step.commands : []
    if (command?.do === 'put-snippet') return await writeSnippet(shell, step, command, signal)
    if (command?.do !== 'run') throw new Error(`${step.summary} (${step.lane}) is nothing that root does on a host`)
    const { code, stdout, stderr } = await shell.run(command.argv, { signal })
    if (code === 0) return { result: 'done' }
    const text = cleanText(stderr.trim() === '' ? stdout.trim() : stderr.trim()) || `code ${code}`
    return { result: 'refused', refusal: translate({ text, doing: step.summary, host: step.host }) }
  } catch (error) {
    if (!(error instanceof ShellFailure)) throw error
    const message = `could not ${step.summary}: ${cleanText(error.message)}`
    if (error.code === 'host-key' || error.code === 'denied')
      return { result: 'refused', refusal: { reason: 'SshRefused', meaning: 'stalled', message } }
    return { result: error.ran === 'no' ? 'not-sent' : 'unclear', message }
  } finally {
    await shell.close()
  }
}

/** Writes a text to its storage's folder, unless it is there already. */
async function writeSnippet(
  shell: Shell,
  step: Step,
  { volume: id, sha256, mode, text }: SnippetCommand,
  signal: AbortSignal,
): Promise<Outcome> {
  const asked = await shell.run(['pvesm', 'path', id], { signal })
  const file = asked.stdout.trim()
  const name = id.slice(id.indexOf(':') + 1)
  // The answer must not choose where to write: use only its folder, with the name checked.
  if (asked.code !== 0 || !file.startsWith('/') || !file.endsWith(`/${name}`) || /[\0\n]|\/\.\.\//.test(file)) {
    const said = cleanText(asked.stderr.trim() === '' ? file : asked.stderr.trim()) || `code ${asked.code}`
    return { result: 'refused', refusal: translate({ text: said, doing: step.summary, host: step.host }) }
  }
  const there = await shell.readFile(file, signal)
  if (there !== undefined && createHash('sha256').update(there).digest('hex') === sha256) return { result: 'done' }
  await shell.writeFile(file, text.reveal(), { mode, signal })
  return { result: 'done' }
}

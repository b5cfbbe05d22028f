import type { Clock } from '../../../lib/clock.ts'
import { LIMITS } from '../../../lib/limits.ts'
import type { Random } from '../../../lib/random.ts'
import { type Ran, type RunOptions, type Shell, ShellFailure } from '../../../lib/shell.ts'
import type { ObservedResource } from '../../../model/resource.ts'
import type { Api } from '../api.ts'
import { guestPath } from '../steps.ts'
import { readFile, writeFile } from './files.ts'
import { type AgentGuest, bytesOf, runProgram } from './run.ts'

/** The agent lane. Programs run as the agent does: as root. */
export function openAgentShell(
  api: Api,
  deps: { readonly clock: Clock; readonly random: Random },
  observed: ObservedResource,
): Shell {
  const { host, externalId } = observed
  const guest: AgentGuest = {
    api,
    clock: deps.clock,
    random: deps.random,
    path: `${guestPath(host, 'vm', externalId)}/agent`,
    about: (doing) => ({ doing: `${doing} in VM ${externalId} on ${host}`, host, guest: externalId }),
  }
  const open = async <T>(deed: () => Promise<T>): Promise<T> => {
    if (observed.type !== 'vm')
      throw new ShellFailure(
        'no',
        'no-agent',
        `container ${externalId} on ${host} has no agent: only SSH leads into it`,
      )
    return deed()
  }
  return {
    run: (argv, options) => open(() => run(guest, argv, options)),
    readFile: (path, signal) => open(() => readFile(guest, path, signal)),
    writeFile: (path, content, options) => open(() => writeFile(guest, path, content, options)),
    close: () => Promise.resolve(),
  }
}

function run(guest: AgentGuest, argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const input = bytesOf(options.input)
  return input !== undefined && input.length > LIMITS.agentInputBytes
    ? runWithFile(guest, argv, input, options)
    : runProgram(guest, argv, options)
}

/** Input above Proxmox's limit goes through a file that only root can read and that is deleted at the end. */
async function runWithFile(
  guest: AgentGuest,
  argv: readonly string[],
  input: Uint8Array,
  options: RunOptions,
): Promise<Ran> {
  const path = `/dev/shm/croft-input-${Math.floor(guest.random.next() * 2 ** 48).toString(16)}`
  await writeFile(guest, path, input, {
    mode: 0o600,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  })
  const script = 'f=$1; shift; exec <"$f"; rm -f -- "$f"; exec "$@"'
  const { input: _, ...rest } = options
  return runProgram(guest, ['/bin/sh', '-c', script, 'croft', path, ...argv], rest)
}

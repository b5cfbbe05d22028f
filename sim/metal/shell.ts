import { LIMITS } from '../../src/lib/limits.ts'
import { type Ran, type Shell, ShellFailure } from '../../src/lib/shell.ts'
import { runProgram } from '../guest/run-program.ts'
import type { Box, World } from '../world/types.ts'
import { putFile, runHostProgram } from './host-program.ts'

/** How long a command takes to get there and back. */
const ROUND_TRIP_MS = 30

/** Programs and files on a simulated box, as over SSH. */
export function metalShell(world: World, name: string): Shell {
  return boxShell(world, () => {
    const box = world.metal.get(name)
    if (box === undefined) throw new ShellFailure('no', 'unreachable', `there is no box ${name}`)
    return box
  })
}

function boxShell(world: World, find: () => Box): Shell {
  const reach = async (signal: AbortSignal | undefined): Promise<Box> => {
    await world.clock.sleep(ROUND_TRIP_MS, signal)
    if (signal?.aborted) throw new ShellFailure('no', 'aborted', 'it was called off')
    const box = find()
    if (!box.computer.isUp()) throw new ShellFailure('no', 'unreachable', `${box.name} does not answer`)
    return box
  }
  return {
    async run(argv, options = {}): Promise<Ran> {
      const box = await reach(options.signal)
      const { life } = box
      const input = options.input === undefined ? undefined : Buffer.from(options.input).toString('utf8')
      if (box.trouble.notRoot === true && argv[0] === 'mkdir')
        return { code: 1, stdout: '', stderr: `mkdir: cannot create directory ‘${argv.at(-1)}’: Permission denied\n` }
      const host = runHostProgram(box, argv, input ?? '')
      if (box.life !== life) throw new ShellFailure('maybe', 'unreachable', `${box.name} was lost in the middle of it`)
      if (host !== undefined) return { code: host.code ?? 0, stdout: host.out ?? '', stderr: host.err ?? '' }
      const done = runProgram(box.computer, argv, input)
      if (done === undefined) return { code: 127, stdout: '', stderr: `${argv[0]}: command not found\n` }
      if (done.tookMs > (options.timeoutMs ?? LIMITS.commandTimeoutMs))
        throw new ShellFailure('maybe', 'timeout', `${argv[0]} did not end in time`)
      await world.clock.sleep(done.tookMs, options.signal)
      if (box.life !== life) throw new ShellFailure('maybe', 'unreachable', `${box.name} was lost in the middle of it`)
      return { code: done.exit ?? 128 + (done.signal ?? 0), stdout: done.out, stderr: done.err }
    },
    async readFile(path, signal) {
      const { machine, name } = await reach(signal)
      if (machine.files.isFolder(path))
        throw new ShellFailure('no', 'unreadable', `${path} on ${name} cannot be read: Is a directory`)
      const bytes = machine.files.read(path)
      return bytes === undefined ? undefined : new Uint8Array(bytes)
    },
    async writeFile(path, content, options = {}) {
      if (!path.startsWith('/') || path.includes('\0') || path.split('/').includes('..'))
        throw new ShellFailure('no', 'bad-argument', `${path.replaceAll('\0', '')} is no whole path`)
      const box = await reach(options.signal)
      if (box.trouble.diskFull === true) throw new ShellFailure('no', 'no-space', 'No space left on device')
      if (box.trouble.notRoot === true)
        throw new ShellFailure('no', 'denied', `${path} on ${box.name} cannot be written: Permission denied`)
      const folder = path.slice(0, path.lastIndexOf('/')) || '/'
      if (!box.machine.files.isFolder(folder))
        throw new ShellFailure(
          'no',
          'not-found',
          `${path} on ${box.name} cannot be written: mktemp: failed to create file via template ‘${folder}/.croft.XXXXXXXX’: No such file or directory`,
        )
      const { mode = 0o644, owner = 'root', group = owner } = options
      putFile(box, path, `${owner}:${group}`, mode.toString(8), Buffer.from(content))
    },
    close: () => Promise.resolve(),
  }
}

import { createHash } from 'node:crypto'
import type { InstallInput, NodeAnswer } from '../../src/k3s/node-program.ts'
import { releaseOf } from '../../src/k3s/releases.ts'
import type { Files } from '../guest/files.ts'
import { beginJob } from '../guest/job.ts'
import { between } from '../world/chance.ts'
import type { Computer } from '../world/types.ts'
import { BINARY, installedVersion, programText } from './disk.ts'

const BIN = '/usr/local/bin'

/** What a release's program hashes to in the simulation: its text is its name and version. */
export function releaseChecksum(version: string): string {
  return createHash('sha256').update(programText(version)).digest('hex')
}

/** Fetches, proves the checksum, and only then puts the program in place. */
export function beginInstall(computer: Computer, order: InstallInput): NodeAnswer {
  const { world, machine } = computer
  return beginJob(computer, 'install', between(world.random, world.k3s.timing.installMs), (done) => {
    if (machine.trouble.diskFull === true) {
      done(`K3s ${order.version}: No space left on device`)
      return
    }
    const problems: string[] = []
    for (const from of order.from) {
      const found = fetched(computer, from)
      if (found === undefined) problems.push(`${from}: ${from.includes('://') ? 'not found (404)' : 'no such file'}`)
      else if (found.sha256 !== order.sha256)
        problems.push(`${from}: checksum is ${found.sha256}, expected ${order.sha256}`)
      else if (found.version !== order.version)
        problems.push(`${from} calls itself ${found.version} and not ${order.version}`)
      else {
        dropFetched(machine.files)
        const path = order.beside === true ? besidePath(found.version) : BINARY
        machine.files.write(path, programText(found.version))
        done()
        return
      }
    }
    done(`K3s ${order.version}: ${problems.join('; ')}`)
  })
}

function besidePath(version: string): string {
  return `${BIN}/.k3s-${version}.croft`
}

/** The release of a program that was fetched beside the one in place. */
export function fetchedVersion(files: Files): string | undefined {
  const name = files.list(BIN).find((one) => one.startsWith('.k3s-v') && one.endsWith('.croft'))
  return name?.slice('.k3s-'.length, -'.croft'.length)
}

function dropFetched(files: Files): void {
  const version = fetchedVersion(files)
  if (version !== undefined) files.remove(besidePath(version))
}

/** Puts the program that was fetched in place, if it is the one that was proved. Returns why not. */
export function exchangeProgram(files: Files, version: string, sum = releaseChecksum(version)): string | undefined {
  const program = files.read(besidePath(version))
  if (program !== undefined) {
    files.remove(besidePath(version))
    if (createHash('sha256').update(program).digest('hex') !== sum)
      return `the program of K3s ${version} that was fetched has another checksum than ${sum} by now: it was deleted, and K3s was not restarted`
    files.write(BINARY, program)
  }
  return installedVersion(files) === version ? undefined : `K3s ${version} is not here`
}

function fetched(computer: Computer, from: string): { readonly sha256: string; readonly version: string } | undefined {
  const { world, machine } = computer
  if (!from.includes('://')) {
    const bytes = machine.files.read(from)
    if (bytes === undefined) return undefined
    const version = /k3s program (\S+)/.exec(Buffer.from(bytes).toString('latin1'))?.[1] ?? ''
    return { sha256: createHash('sha256').update(bytes).digest('hex'), version }
  }
  const known = world.k3s.artifacts.get(from)
  if (known !== undefined) return known
  // A mirror keeps the paths of the official place, so the version in the path says what lies there.
  const version = /(v\d+\.\d+\.\d+(?:\+|%2B)k3s\d+)\/k3s(?:-arm64|-armhf)?$/i.exec(from)?.[1]?.replace(/%2B/i, '+')
  if (version === undefined || releaseOf(version) === undefined || machine.trouble.noNetwork === true) return undefined
  return { sha256: releaseChecksum(version), version }
}

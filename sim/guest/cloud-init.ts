import { gunzipSync } from 'node:zlib'
import { yamlLibrary } from '../../src/lib/yaml-library.ts'
import { between } from '../world/chance.ts'
import type { Computer } from '../world/types.ts'
import { runProgram } from './run-program.ts'

export interface CloudInitRun {
  readonly instanceId: string
  readonly userData: string
  /** False once the computer was stopped or started again: the rest does not happen. */
  readonly goesOn: () => boolean
}

/** When each stage is through, counted from the boot. */
const INIT_MS: readonly [number, number] = [300, 800]
const CONFIG_MS: readonly [number, number] = [1_500, 3_000]
const PACKAGE_MS: readonly [number, number] = [2_500, 6_000]
const FINAL_MS: readonly [number, number] = [300, 900]

const RESULT = '/run/cloud-init/result.json'

/**
 * cloud-init's stages, once for each instance id: files, then the host name, packages, and the commands of
 * the end. The name takes effect late, as on real machines: earlier services run under the image's name.
 */
export function runCloudInit(computer: Computer, run: CloudInitRun, installed: (name: string) => void): void {
  const { world, machine } = computer
  const { system, trouble } = machine
  machine.files.write('/var/lib/cloud/data/instance-id', `${run.instanceId}\n`)
  machine.files.write('/var/lib/cloud/instance/user-data.txt', run.userData)
  const ended = () => {
    system.cloudInit = system.cloudInitError === undefined ? 'done' : 'error'
    const errors = system.cloudInitError === undefined ? [] : [system.cloudInitError]
    machine.files.write(RESULT, `${JSON.stringify({ v1: { datasource: 'DataSourceNoCloud', errors } }, null, 1)}\n`)
  }
  // /run is empty after each boot.
  machine.files.remove(RESULT)
  machine.files.write('/run/cloud-init/status.json', '{"v1": {"stage": "modules-final"}}\n')
  if (system.instanceId === run.instanceId) {
    ended()
    return
  }
  system.instanceId = run.instanceId
  system.cloudInit = 'running'
  system.cloudInitError = undefined
  const parsed = read(run.userData)
  const config = parsed ?? {}
  const fail = (why: string) => {
    system.cloudInitError ??= why
  }
  const stage = (afterMs: readonly [number, number], deed: () => void, next: () => void) => {
    world.clock.schedule(world.clock.now() + between(world.random, afterMs), () => {
      if (!run.goesOn()) return
      deed()
      next()
    })
  }
  const packages = list(config.packages).map((one) => String(Array.isArray(one) ? one[0] : one))
  if (parsed === undefined) fail('Failed loading yaml blob. Invalid format')
  stage(
    INIT_MS,
    () => writeFiles(computer, config, false, fail),
    () =>
      stage(
        [CONFIG_MS[0] + (trouble.slowNameMs ?? 0), CONFIG_MS[1] + (trouble.slowNameMs ?? 0)],
        () => {
          system.hostname = system.wantedHostname
          machine.files.write('/etc/hostname', `${system.hostname}\n`)
        },
        () =>
          stage(
            packages.length === 0 ? [0, 0] : PACKAGE_MS,
            () => {
              if (packages.length > 0 && (trouble.noPackages === true || trouble.noNetwork === true))
                fail(`Failed to install packages: ${packages.join(', ')}`)
              else for (const name of packages) installed(name)
            },
            () =>
              stage(
                FINAL_MS,
                () => {
                  writeFiles(computer, config, true, fail)
                  for (const command of [...list(config.bootcmd), ...list(config.runcmd)]) runCommand(computer, command)
                },
                ended,
              ),
          ),
      ),
  )
}

function read(userData: string): Record<string, unknown> | undefined {
  if (!userData.startsWith('#cloud-config')) return {}
  try {
    const tree: unknown = yamlLibrary().parse(userData, { version: '1.1' })
    return typeof tree === 'object' && tree !== null ? (tree as Record<string, unknown>) : {}
  } catch {
    return undefined
  }
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function writeFiles(
  computer: Computer,
  config: Record<string, unknown>,
  deferred: boolean,
  fail: (why: string) => void,
): void {
  for (const entry of list(config.write_files)) {
    const { path, content, encoding, defer, append } = entry as Record<string, unknown>
    if (typeof path !== 'string' || (defer === true) !== deferred) continue
    if (computer.machine.trouble.diskFull === true) {
      fail(`('write_files', OSError(28, 'No space left on device')): ${path}`)
      return
    }
    const bytes = decoded(typeof content === 'string' ? content : '', typeof encoding === 'string' ? encoding : '')
    const before = append === true ? (computer.machine.files.read(path) ?? new Uint8Array()) : new Uint8Array()
    computer.machine.files.write(path, Buffer.concat([before, bytes]))
  }
}

function decoded(content: string, encoding: string): Uint8Array {
  const bytes = /b64|base64/.test(encoding) ? Buffer.from(content, 'base64') : Buffer.from(content, 'utf8')
  return /gz/.test(encoding) ? gunzipSync(bytes) : bytes
}

/** A list is a program with its words, a text goes to the shell. What the small shell does not know counts as done. */
function runCommand(computer: Computer, command: unknown): void {
  const argv = Array.isArray(command) ? command.map(String) : ['sh', '-c', String(command)]
  runProgram(computer, argv, undefined)
}

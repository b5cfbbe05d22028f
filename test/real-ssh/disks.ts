import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import type { Lab, LabHost } from './lab.ts'

/** A disk of a lab's host: a real block device of the kernel, with a file of this computer behind it. */
export interface LabDisk {
  readonly id: string
  readonly serial: string
  /** The file behind it. */
  readonly image: string
  remove(): void
}

/** Plugs a disk in, as udev would show it: under its id, and with its serial number. */
export async function plugIn(one: Lab, host: LabHost, name: string, megabytes = 300): Promise<LabDisk> {
  const image = `${one.directory}/${host.name}-${name}.img`
  must('truncate', '-s', `${megabytes}M`, image)
  const loop = must('losetup', '--find', '--show', image).trim()
  const number = loop.slice('/dev/loop'.length)
  const serial = `SERIAL-${name}`
  const id = `/dev/disk/by-id/lab-${name}`
  const shell = one.shells.open(host.target())
  const script = `set -e; [ -e "$1" ] || mknod "$1" b 7 "$2"; mkdir -p /dev/disk/by-id /run/udev/data
ln -sfn "../../loop$2" "$3"; echo "E:ID_SERIAL_SHORT=$4" >"/run/udev/data/b7:$2"`
  const ran = await shell.run(['sh', '-c', script, 'sh', loop, number, id, serial])
  await shell.close()
  assert.equal(ran.code, 0, ran.stderr)
  return { id, serial, image, remove: () => void spawnSync('losetup', ['--detach', loop]) }
}

/** Why there can be no disks here; undefined when there can. In CI nothing may be skipped. */
export function disksMissing(): string | undefined {
  const tried = spawnSync('losetup', ['--find'], { encoding: 'utf8' })
  if (tried.status === 0) return undefined
  const why = `needs a kernel with loop devices, and losetup (${(tried.stderr ?? '').trim()})`
  if (process.env.CI !== undefined) throw new Error(`disks must be tested in CI, but it ${why}`)
  return why
}

function must(program: string, ...args: readonly string[]): string {
  const ran = spawnSync(program, args, { encoding: 'utf8' })
  assert.equal(ran.status, 0, `${program} ${args.join(' ')}: ${ran.stderr}`)
  return ran.stdout
}

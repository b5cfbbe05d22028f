import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { run } from './processes.ts'

const URI = 'qemu:///system'

export const virsh = (...words: readonly string[]): string => run('virsh', '-c', URI, ...words)

/** libvirtd with its own state, configuration and sockets. Answers whether this computer can run it. */
export async function startLibvirt(scratch: string): Promise<boolean> {
  cpSync('/etc/libvirt', join(scratch, 'etc'), { recursive: true })
  // A libvirtd of this computer is neither seen nor disturbed.
  for (const place of ['/run/libvirt', '/var/lib/libvirt', '/var/log/libvirt', '/var/cache/libvirt']) {
    mkdirSync(place, { recursive: true })
    run('mount', '-t', 'tmpfs', '-o', 'mode=0755', 'tmpfs', place)
  }
  run('mount', '--bind', join(scratch, 'etc'), '/etc/libvirt')
  for (const place of [
    '/var/lib/libvirt/dnsmasq',
    '/var/lib/libvirt/qemu/nvram',
    '/var/log/libvirt/qemu',
    '/var/cache/libvirt/qemu',
    '/run/libvirt/qemu',
  ])
    mkdirSync(place, { recursive: true })
  // No confinement: there is none to be had in a container, and it is not what is tried here.
  writeFileSync(
    '/etc/libvirt/qemu.conf',
    'security_driver = "none"\nuser = "root"\ngroup = "root"\nremember_owner = 0\n',
  )
  // Where it is there and does not work, even asking what it can do hangs. Here everything is emulated.
  if (existsSync('/dev/kvm')) run('mount', '--bind', '/dev/null', '/dev/kvm')
  run('ip', 'link', 'set', 'lo', 'up')
  // Its own place also for the file that says it runs: another libvirtd of this computer has the usual one.
  for (const daemon of ['virtlogd', 'libvirtd'])
    spawn(daemon, ['-p', `/run/libvirt/${daemon}.pid`], { stdio: 'ignore' }).unref()
  for (let tries = 0; tries < 60; tries++) {
    // The first question about QEMU makes libvirt try it out, which takes its time.
    if (spawnSync('virsh', ['-c', URI, 'capabilities'], { timeout: 180_000 }).status === 0) return true
    await pause(500)
  }
  return false
}

/** A domain that was made without croft. */
export function defineTheirs(scratch: string): void {
  // QEMU runs as another user, which must be able to reach the files below.
  chmodSync(scratch, 0o755)
  const theirs = join(scratch, 'theirs.xml')
  writeFileSync(
    theirs,
    "<domain type='qemu'><name>theirs</name><memory unit='MiB'>64</memory><os><type>hvm</type></os></domain>",
  )
  virsh('define', theirs)
}

import type { Seen } from '../ask.ts'
import { type Command, run } from '../command.ts'
import { change, type ItemRules, restoreFile } from '../item.ts'
import { textOf } from './line.ts'

/** Where the words for the kernel are kept, by who starts it: a Raspberry Pi, systemd-boot, grub. */
const PI = ['/boot/firmware/cmdline.txt', '/boot/cmdline.txt'] as const
const SYSTEMD_BOOT = '/etc/kernel/cmdline'
const GRUB = '/etc/default/grub'

/** Words for the kernel: written down for whoever starts it, and in force once it was started with them. */
export const kernelArgs: ItemRules<'kernel-args'> = {
  type: 'kernel-args',
  queues: ['single/boot'],
  asks: () => [
    ...[...PI, SYSTEMD_BOOT, GRUB].map((path) => ({ ask: 'file', path }) as const),
    { ask: 'run', argv: ['cat', '/proc/cmdline'] },
    { ask: 'run', argv: ['sh', '-c', 'command -v proxmox-boot-tool'] },
  ],
  diff({ spec }, seen) {
    const boot = bootOf(seen)
    if (boot === undefined)
      return [
        {
          ...change('args', null, spec.args.join(' ')),
          blocked: {
            message: 'nobody knows how this host starts its kernel',
            allow: 'use grub, systemd-boot or a Raspberry Pi',
          },
        },
      ]
    const wanted = withArgs(boot.args, spec)
    if (wanted !== boot.args)
      return [change('args', boot.args, wanted), change('running', '', 'after a restart', 'restart')]
    const running = seen.run('cat', '/proc/cmdline').out.trim()
    const inForce = withArgs(running, spec)
    return inForce === running ? [] : [change('running', running, inForce, 'restart')]
  },
  commands({ spec }, seen) {
    const boot = bootOf(seen)
    return boot === undefined ? [] : [...boot.write(withArgs(boot.args, spec)), ...boot.after]
  },
  undo(_item, seen) {
    const boot = bootOf(seen)
    const back = boot === undefined ? undefined : restoreFile(boot.path, seen.file(boot.path))
    return boot === undefined || back === undefined ? undefined : [...back, ...boot.after]
  },
}

interface Boot {
  readonly path: string
  readonly args: string
  readonly after: readonly Command[]
  write(args: string): readonly Command[]
}

function bootOf(seen: Seen): Boot | undefined {
  for (const path of PI) {
    const there = seen.file(path)
    if (there.kind !== 'file') continue
    return { path, args: (textOf(there) ?? '').trim(), after: [], write: (args) => [keep(path, `${args}\n`, seen)] }
  }
  if (seen.file(SYSTEMD_BOOT).kind === 'file') {
    const proxmox = seen.run('sh', '-c', 'command -v proxmox-boot-tool').code === 0
    return {
      path: SYSTEMD_BOOT,
      args: (textOf(seen.file(SYSTEMD_BOOT)) ?? '').trim(),
      after: [
        proxmox
          ? run('proxmox-boot-tool', 'refresh')
          : run('sh', '-c', 'kernel-install add "$(uname -r)" "/boot/vmlinuz-$(uname -r)"'),
      ],
      write: (args) => [keep(SYSTEMD_BOOT, `${args}\n`, seen)],
    }
  }
  const grub = textOf(seen.file(GRUB))
  if (seen.file(GRUB).kind !== 'file' || grub === undefined) return undefined
  return {
    path: GRUB,
    args: GRUB_LINE.exec(grub)?.[2] ?? '',
    after: [run('update-grub')],
    write: (args) => [keep(GRUB, withGrub(grub, args), seen)],
  }
}

const GRUB_LINE = /^(GRUB_CMDLINE_LINUX_DEFAULT=)"?([^"\n]*)"?$/m

export function withGrub(text: string, args: string): string {
  const line = `GRUB_CMDLINE_LINUX_DEFAULT="${args}"`
  return GRUB_LINE.test(text) ? text.replace(GRUB_LINE, () => line) : `${text.replace(/\n?$/, '\n')}${line}\n`
}

function keep(path: string, content: string, seen: Seen): Command {
  const { mode, owner, group } = seen.file(path)
  return { do: 'put', path, content, mode, owner, group }
}

/** The words with ours among them. A word `a=b` takes the place of any other `a=…`, but for those that may stand often. */
export function withArgs(
  text: string,
  spec: { readonly args: readonly string[]; readonly remove: readonly string[] },
): string {
  const often = /^(?:console|earlycon|module_blacklist|modprobe\.blacklist)=/
  let words = text.split(/\s+/).filter((word) => word !== '')
  words = words.filter(
    (word) => !spec.remove.some((gone) => word === gone || (!gone.includes('=') && word.startsWith(`${gone}=`))),
  )
  for (const arg of spec.args) {
    if (words.includes(arg)) continue
    // cgroup_enable stands once for each group.
    const name = arg.split('=')[0] ?? arg
    const unique = arg.includes('=') && !often.test(arg) && name !== 'cgroup_enable'
    const at = unique ? words.findIndex((word) => word.startsWith(`${name}=`)) : -1
    if (at >= 0) words[at] = arg
    else words.push(arg)
  }
  return words.join(' ')
}

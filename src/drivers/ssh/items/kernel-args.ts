import type { HostItemOf } from '../../../model/host-item.ts'
import type { Change } from '../../../model/resource.ts'
import type { ItemFacts } from '../ask.ts'
import { type Command, run } from '../command.ts'
import { editBack, editOf, wordsIn } from '../edit.ts'
import { change, type ItemRules } from '../item.ts'
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
            message: 'croft does not know the boot loader of this host',
            allow: 'use grub, systemd-boot or a Raspberry Pi',
          },
        },
      ]
    const written = wordChange('args', boot.args, wantedArgs(boot.args, spec, seen))
    if (written !== undefined) return [written, change('running', '', 'after a restart', 'restart')]
    const running = seen.run('cat', '/proc/cmdline').out.trim()
    const missing = wordChange('running', running, wantedArgs(running, spec, seen), 'restart')
    return missing === undefined ? [] : [missing]
  },
  commands({ spec }, seen) {
    const boot = bootOf(seen)
    return boot === undefined ? [] : [...boot.write(wantedArgs(boot.args, spec, seen)), ...boot.after]
  },
  undo({ spec }, seen) {
    const boot = bootOf(seen)
    if (boot === undefined) return undefined
    const [before, after] = [wordsIn(boot.args), wordsIn(wantedArgs(boot.args, spec, seen))]
    const end = without(after, before)
    const back = { what: 'words', path: boot.path, ours: boot.prefix, end, before: without(before, after) } as const
    return [editBack({ ...back, created: false }), ...boot.after]
  },
}

const without = (some: readonly string[], others: readonly string[]) =>
  some.filter((word) => !others.includes(word)).join(' ')

/** The words that go and those that come: whole lines would leave it to the reader to find them. */
function wordChange(path: string, from: string, to: string, effect: Change['effect'] = 'live'): Change | undefined {
  const [before, after] = [wordsIn(from), wordsIn(to)]
  if (before.join(' ') === after.join(' ')) return undefined
  return change(path, without(before, after) || null, without(after, before) || null, effect)
}

type KernelArgs = HostItemOf<'kernel-args'>['spec']

/** Words that we gave the kernel once and that are declared no more go, and what they took the place of comes back. */
function wantedArgs(text: string, spec: KernelArgs, seen: ItemFacts): string {
  const before = (seen.undo ?? []).map(editOf).find((edit) => edit?.what === 'words')
  const stale = wordsIn(before?.end).filter((word) => !spec.args.includes(word))
  const kept = wordsIn(text).filter((word) => !stale.includes(word))
  const back = stale.length === 0 ? [] : wordsIn(before?.before).filter((word) => !kept.includes(word))
  return withArgs([...kept, ...back].join(' '), spec)
}

interface Boot {
  readonly path: string
  /** What the line begins with that has the words. */
  readonly prefix: string
  readonly args: string
  readonly after: readonly Command[]
  write(args: string): readonly Command[]
}

function bootOf(seen: ItemFacts): Boot | undefined {
  for (const path of PI) {
    const there = seen.file(path)
    if (there.kind !== 'file') continue
    const args = (textOf(there) ?? '').trim()
    return { path, prefix: '', args, after: [], write: (text) => [keep(path, `${text}\n`, seen)] }
  }
  if (seen.file(SYSTEMD_BOOT).kind === 'file') {
    const proxmox = seen.run('sh', '-c', 'command -v proxmox-boot-tool').code === 0
    return {
      path: SYSTEMD_BOOT,
      prefix: '',
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
    prefix: 'GRUB_CMDLINE_LINUX_DEFAULT=',
    args: grubArgs(grub),
    after: [run('update-grub')],
    write: (args) => [keep(GRUB, withGrub(grub, args), seen)],
  }
}

/** As a shell reads it: in either sort of quotes, or one word without; a remark may follow. */
const GRUB_LINE = /^GRUB_CMDLINE_LINUX_DEFAULT=(?:"([^"\n]*)"|'([^'\n]*)'|([^\s"'#]*))(?=[ \t]*(?:#.*)?$)/m

function grubArgs(text: string): string {
  const [, double, single, bare] = GRUB_LINE.exec(text) ?? []
  return double ?? single ?? bare ?? ''
}

export function withGrub(text: string, args: string): string {
  const line = `GRUB_CMDLINE_LINUX_DEFAULT="${args}"`
  return GRUB_LINE.test(text) ? text.replace(GRUB_LINE, () => line) : `${text.replace(/\n?$/, '\n')}${line}\n`
}

function keep(path: string, content: string, seen: ItemFacts): Command {
  const { mode, owner, group } = seen.file(path)
  return { do: 'put', path, content, mode, owner, group }
}

/** The words with ours among them. A word `a=b` takes the place of any other `a=…`, but for those that may stand often. */
export function withArgs(
  text: string,
  spec: { readonly args: readonly string[]; readonly remove: readonly string[] },
): string {
  const often = /^(?:console|earlycon|module_blacklist|modprobe\.blacklist)=/
  const words = wordsIn(text).filter(
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

import type { HostItemOf } from '../../../model/host-item.ts'
import type { Change } from '../../../model/resource.ts'
import type { ItemFacts } from '../ask.ts'
import { type Command, run } from '../command.ts'
import { editBack, editOf, wordsIn } from '../edit.ts'
import { change, type ItemRules } from '../item.ts'
import { textOf } from './line.ts'

/** The files with kernel arguments by boot loader: a Raspberry Pi, systemd-boot, grub. */
const PI = ['/boot/firmware/cmdline.txt', '/boot/cmdline.txt'] as const
const SYSTEMD_BOOT = '/etc/kernel/cmdline'
const GRUB = '/etc/default/grub'

/** Kernel arguments: written to the boot loader, effective after the next start. */
export const kernelArgs: ItemRules<'kernel-args'> = {
  type: 'kernel-args',
  queues: ['single/boot'],
  asks: () => [
    ...[...PI, SYSTEMD_BOOT, GRUB].map((path) => ({ ask: 'file', path }) as const),
    { ask: 'run', argv: ['cat', '/proc/cmdline'] },
    { ask: 'run', argv: ['sh', '-c', 'command -v proxmox-boot-tool'] },
    { ask: 'run', argv: ['proxmox-boot-tool', 'status'] },
    { ask: 'run', argv: ['bootctl', 'is-installed'] },
    { ask: 'run', argv: ['sh', '-c', SOURCED] },
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
    if (written !== undefined) {
      const blocked = boot.path === GRUB ? grubObjection(boot.args, seen) : undefined
      if (blocked !== undefined) return [{ ...written, blocked }]
      return [written, change('running', '', 'after a restart', 'restart')]
    }
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

/** Shows only removed and added words: in whole lines they would be hard to find. */
function wordChange(path: string, from: string, to: string, effect: Change['effect'] = 'live'): Change | undefined {
  const [before, after] = [wordsIn(from), wordsIn(to)]
  if (before.join(' ') === after.join(' ')) return undefined
  const [gone, come] = [without(before, after), without(after, before)]
  if (gone === '' && come === '') return change(path, from, to, effect)
  return change(path, gone || null, come || null, effect)
}

type KernelArgs = HostItemOf<'kernel-args'>['spec']

/** Removes arguments that croft added and that are no longer declared, and restores what they replaced. */
function wantedArgs(text: string, spec: KernelArgs, seen: ItemFacts): string {
  const before = (seen.undo ?? []).map(editOf).find((edit) => edit?.what === 'words')
  const stale = wordsIn(before?.end).filter((word) => !spec.args.includes(word))
  const kept = wordsIn(text).filter((word) => !stale.includes(word))
  const back = stale.length === 0 ? [] : wordsIn(before?.before).filter((word) => !kept.includes(word))
  return withArgs([...kept, ...back].join(' '), spec)
}

interface Boot {
  readonly path: string
  /** The prefix of the line with the words. */
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
  const proxmox = seen.run('sh', '-c', 'command -v proxmox-boot-tool').code === 0
  if (seen.file(SYSTEMD_BOOT).kind === 'file' && isSystemdBoot(proxmox, seen)) {
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

/**
 * Reports whether systemd-boot starts this host. The file alone proves nothing: Proxmox's installer writes it for every
 * root on ZFS, even if grub starts the host.
 */
function isSystemdBoot(proxmox: boolean, seen: ItemFacts): boolean {
  if (proxmox) return /configured with: [^\n]*\buefi\b/.test(seen.run('proxmox-boot-tool', 'status').out)
  return seen.run('bootctl', 'is-installed').code === 0 || seen.file(GRUB).kind !== 'file'
}

/** The words as a shell reads them, like update-grub: from the file alone, and with the files sourced later. */
const SOURCED =
  'unset GRUB_CMDLINE_LINUX_DEFAULT; . /etc/default/grub; printf "%s\\n" "$GRUB_CMDLINE_LINUX_DEFAULT"; ' +
  'for f in /etc/default/grub.d/*.cfg; do if [ -e "$f" ]; then . "$f"; fi; done; printf "%s\\n" "$GRUB_CMDLINE_LINUX_DEFAULT"'

/** The file is a sh program. If croft and sh read different words, a line of croft's would lose some of them. */
function grubObjection(args: string, seen: ItemFacts): Change['blocked'] {
  const { code, out } = seen.run('sh', '-c', SOURCED)
  if (code !== 0) return undefined
  const [own = '', all = ''] = out.split('\n')
  if (wordsIn(own).join(' ') !== wordsIn(args).join(' '))
    return {
      message: `a shell reads "${own}" as GRUB_CMDLINE_LINUX_DEFAULT of ${GRUB}, and croft "${args}"`,
      allow: 'assign it once, on a line of its own, without export and without a backslash at its end',
    }
  const lost = without(wordsIn(own), wordsIn(all))
  if (lost !== '')
    return {
      message: `a file in /etc/default/grub.d assigns GRUB_CMDLINE_LINUX_DEFAULT anew, so that ${GRUB} has no effect`,
      allow: 'let that file add to the variable, or take the line out of it',
    }
  return undefined
}

/** As a shell reads it: in single or double quotes, or one unquoted word; a comment may follow. */
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

const nameOf = (word: string) => word.split('=')[0] ?? word
/** These may be repeated: cgroup_enable appears once per group. */
const isOften = (word: string) => /^(?:console|earlycon|module_blacklist|modprobe\.blacklist|cgroup_enable)=/.test(word)

/** Returns the words including ours. A word `a=b` replaces any other `a=…`, except repeatable ones. */
export function withArgs(
  text: string,
  spec: { readonly args: readonly string[]; readonly remove: readonly string[] },
): string {
  const words = wordsIn(text).filter(
    (word) => !spec.remove.some((gone) => word === gone || (!gone.includes('=') && word.startsWith(`${gone}=`))),
  )
  // For repeated words, like hugepagesz and hugepages, the order matters.
  const names = spec.args.map(nameOf)
  const several = spec.args.filter((arg) => names.filter((name) => name === nameOf(arg)).length > 1 && !isOften(arg))
  const isSeveral = (word: string) => several.some((arg) => nameOf(arg) === nameOf(word))
  if (words.filter(isSeveral).join(' ') !== several.join(' '))
    words.splice(0, words.length, ...words.filter((word) => !isSeveral(word)), ...several)
  for (const arg of spec.args) {
    if (words.includes(arg)) continue
    const name = nameOf(arg)
    const at = arg.includes('=') && !isOften(arg) ? words.findIndex((word) => word.startsWith(`${name}=`)) : -1
    if (at >= 0) words[at] = arg
    else words.push(arg)
  }
  return words.join(' ')
}

import type { Change } from '../../../model/resource.ts'
import { run } from '../command.ts'
import { RELOAD_SSHD as RELOAD } from '../doors.ts'
import { armed, change, fileAsk, fileChanges, type ItemRules, put, restoreFile } from '../item.ts'

const PATH = '/etc/ssh/sshd_config.d/00-croft.conf'
const REVERT = 'sshd'

/**
 * sshd's login settings. The file is checked before sshd reads it, a new connection must succeed afterwards, and
 * without confirmation the host reverts everything: a mistake here cuts off no user.
 */
export const sshd: ItemRules<'sshd'> = {
  type: 'sshd',
  queues: ['single/sshd'],
  asks: ({ spec }) => [
    fileAsk(PATH, textOf(spec.settings)),
    { ask: 'run', argv: ['sshd', '-T', '-C', 'user=root,host=localhost,addr=127.0.0.1'] },
  ],
  diff({ spec }, seen) {
    const changes: Change[] = [...fileChanges(seen.file(PATH), textOf(spec.settings), { mode: 0o600 })]
    const { code, out } = seen.run('sshd', '-T', '-C', 'user=root,host=localhost,addr=127.0.0.1')
    if (changes.length > 0 || code !== 0) return changes
    // The file is right, and an earlier configuration overrides it.
    for (const [name, value] of Object.entries(spec.settings)) {
      // It prints each value of a list in a separate line.
      const inForce = [...out.matchAll(new RegExp(`^${name.toLowerCase()} (.*)$`, 'gm'))]
        .map(([, one]) => one)
        .join(' ')
      if (inForce !== '' && !sameSetting(inForce, value))
        changes.push({
          ...change(`inForce.${name}`, inForce, value),
          blocked: {
            message: `sshd has ${name} ${inForce}: /etc/ssh/sshd_config says so before it reads sshd_config.d, or not at all`,
            allow: 'let /etc/ssh/sshd_config begin with Include /etc/ssh/sshd_config.d/*.conf',
          },
        })
    }
    return changes
  },
  commands({ spec }, seen) {
    const back = restoreFile(PATH, seen.file(PATH), textOf(spec.settings)) ?? [{ do: 'remove', path: PATH } as const]
    return armed(REVERT, [...back, RELOAD], [...ours(spec.settings), CHECK, RELOAD])
  },
  undo({ spec }, seen) {
    const back = restoreFile(PATH, seen.file(PATH), textOf(spec.settings))
    return back === undefined ? undefined : armed(REVERT, [...ours(spec.settings), RELOAD], [...back, CHECK, RELOAD])
  },
}

const CHECK = run('sshd', '-t')
const ours = (settings: Readonly<Record<string, string>>) => put(PATH, textOf(settings), { mode: 0o600 })

function textOf(settings: Readonly<Record<string, string>>): string {
  return Object.keys(settings)
    .sort()
    .map((name) => `${name} ${settings[name] ?? ''}\n`)
    .join('')
}

/** `without-password` and `prohibit-password` mean the same. */
function sameSetting(a: string, b: string): boolean {
  const plain = (text: string) => text.toLowerCase().replace('without-password', 'prohibit-password').trim()
  return plain(a) === plain(b)
}

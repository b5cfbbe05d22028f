import { shellQuoted } from '../../lib/shell-quoted.ts'
import type { Command } from './command.ts'
import { HOST_PATH } from './host-path.ts'

/**
 * What a host does by itself when nobody confirmed a change. The script removes itself first, so that it runs once; when
 * it is gone, the change was confirmed. A file that is read by sh, with every word quoted.
 */
export function revertScript(commands: readonly Command[], self: string): string {
  const lines = [
    `[ -e ${shellQuoted(self)} ] || exit 0`,
    `rm -f -- ${shellQuoted(self)}`,
    `LC_ALL=C; export LC_ALL; ${HOST_PATH}; umask 077`,
  ]
  for (const command of commands) {
    switch (command.do) {
      case 'run':
        lines.push(command.argv.map(shellQuoted).join(' '))
        break
      case 'remove':
        lines.push(`rm -f -- ${shellQuoted(command.path)}`)
        break
      case 'put': {
        const path = shellQuoted(command.path)
        const base64 = Buffer.from(command.content ?? '', 'utf8').toString('base64')
        const { owner = 'root', group } = command
        // An owner with a colon at its end means the group of that user.
        const who = owner.endsWith(':') ? owner : `${owner}:${group ?? 'root'}`
        lines.push(`printf %s ${shellQuoted(base64)} | base64 -d >${path}.croft-revert`)
        lines.push(`chown -- ${shellQuoted(who)} ${path}.croft-revert`)
        lines.push(`chmod -- ${(command.mode ?? 0o644).toString(8).padStart(4, '0')} ${path}.croft-revert`)
        lines.push(`sync -d -- ${path}.croft-revert 2>/dev/null`)
        lines.push(`mv -fT -- ${path}.croft-revert ${path}`)
        break
      }
      case 'arm':
      case 'prove':
      case 'disarm':
        break
    }
  }
  return `${lines.join('\n')}\n`
}

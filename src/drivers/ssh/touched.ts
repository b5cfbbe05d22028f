import type { Command } from './command.ts'
import { editOf } from './edit.ts'
import { fileInHome } from './home.ts'

/** What commands could break, judged by the files that they change, not by the item's name. */
export interface Touched {
  /** A way to log in: the next login may fail. */
  readonly door: boolean
  /** A file that the next start of the host reads. */
  readonly boot: boolean
}

const DOORS =
  /^\/etc\/(?:ssh|sudoers|sudoers\.d|sudo\.conf|pam\.d|pam\.conf|security|nsswitch\.conf|passwd|shadow|group|gshadow|shells|login\.defs|nologin|hosts\.(?:allow|deny)|netplan|network|NetworkManager|systemd\/network|nftables\.conf|nftables\.d|iptables|ufw|firewalld)(?:\/|$)|\/\.ssh(?:\/|$)/
const BOOT =
  /^\/boot(?:\/|$)|^\/etc\/(?:fstab|crypttab|mdadm|lvm|default\/grub|default\/grub\.d|grub\.d|kernel|modprobe\.d|modules|modules-load\.d|initramfs-tools|dracut\.conf\.d|udev|zfs|systemd)(?:\/|$)/
const DOOR_UNIT =
  /^(?:ssh|sshd|networking|network|NetworkManager|netplan-.*|systemd-(?:networkd|logind)|wpa_supplicant.*|nftables|ufw|firewalld|tailscaled|wg-quick@.*|dropbear)(?:\.service|\.socket)?$/
const DOOR_PACKAGE =
  /^(?:openssh-.*|dropbear.*|sudo|libpam-.*|netplan\.io|ifupdown.*|network-manager|systemd.*|tailscale|wireguard.*|ufw|firewalld|nftables|iptables.*)(?:=.*)?$/
const LOADER = /^(?:update-grub|update-initramfs|proxmox-boot-tool|kernel-install|grub-mkconfig|bootctl)$/

/** Returns the files that commands write or delete. */
export function filesIn(commands: readonly Command[]): readonly string[] {
  return [...new Set(commands.flatMap((one) => fileIn(one) ?? []))]
}

function fileIn(command: Command): string | undefined {
  if (command.do === 'put' || command.do === 'remove') return command.path
  if (command.do !== 'run') return undefined
  const [program = ''] = command.argv
  return (
    editOf(command)?.path ??
    fileInHome(command.argv) ??
    (['ln', 'chown', 'chmod'].includes(program) ? command.argv.at(-1) : undefined)
  )
}

export function touchedBy(commands: readonly Command[]): Touched {
  const files = filesIn(commands)
  const runs = commands.flatMap((one) => (one.do === 'run' ? [withoutEnv(one.argv)] : []))
  const units = files.flatMap(
    (path) => /^\/(?:etc|usr\/lib|lib)\/systemd\/system\/([^/]+?)(?:\.d)?(?:\/|$)/.exec(path)?.[1] ?? [],
  )
  const isDoor = [
    files.some((path) => DOORS.test(path)),
    units.some((unit) => DOOR_UNIT.test(unit)),
    runs.some(([program = '', verb = '', ...rest]) => {
      if (program === 'systemctl') return !HARMLESS.has(verb) && rest.some((word) => DOOR_UNIT.test(word))
      if (program === 'apt-get')
        return [verb, ...rest].includes('remove') && rest.some((word) => DOOR_PACKAGE.test(word))
      // A setting of the network, or the driver of its card, can cut the host off at once.
      if (program === 'sysctl') return rest.some((word) => /^net[./]/.test(word))
      if (program === 'modprobe') return verb === '-r'
      return (program === 'usermod' && verb !== '--append') || program === 'userdel'
    }),
  ].includes(true)
  const isBoot = files.some((path) => BOOT.test(path)) || runs.some(([program = '']) => LOADER.test(program))
  return { door: isDoor, boot: isDoor || isBoot }
}

const HARMLESS: ReadonlySet<string> = new Set(['daemon-reload', 'unmask', 'enable', 'start', 'reload'])

function withoutEnv(argv: readonly string[]): readonly string[] {
  return argv[0] === 'env' ? argv.slice(argv.findIndex((word, at) => at > 0 && !word.includes('='))) : argv
}

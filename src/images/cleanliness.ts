import { wordList } from '../lib/word-list.ts'

/** One entry of an image's root, as `find -printf '%y %m %s %P\n'` prints it. */
export interface ImageEntry {
  readonly type: string
  readonly mode: string
  readonly size: number
  /** Without a leading slash. */
  readonly path: string
}

/** Something that a machine leaves behind when it has been used, and that must not be in two machines. */
export interface Residue {
  readonly rule: string
  readonly path: string
  readonly why: string
}

interface CleanRule {
  readonly rule: string
  readonly matches: (entry: ImageEntry) => boolean
  readonly why: string
}

const isFile = (entry: ImageEntry) => entry.type === 'f'
const at = (pattern: RegExp) => (entry: ImageEntry) => entry.type !== 'd' && pattern.test(entry.path)

/** Each rule is one way in which an image that was booted shows in the machines made from it. */
const RULES: readonly CleanRule[] = [
  {
    rule: 'machine-id',
    // An empty file means that the image has no id yet.
    matches: (entry) => /^(?:etc|var\/lib\/dbus)\/machine-id$/.test(entry.path) && isFile(entry) && entry.size > 0,
    why: 'all machines made from it would be the same one to systemd, DHCP and K3s',
  },
  {
    rule: 'cloud-init state',
    matches: at(/^var\/lib\/cloud\/(?:instance|instances|data|sem|seed)(?:\/|$)/),
    why: 'cloud-init would think that it has run already',
  },
  {
    rule: 'cloud-init state',
    matches: at(/^run\/cloud-init\//),
    why: 'cloud-init would think that it has run already',
  },
  {
    rule: 'netplan',
    matches: at(/^etc\/netplan\/.+\.ya?ml$|^etc\/network\/interfaces\.d\/.+$|^etc\/systemd\/network\/.+\.network$/),
    why: 'it would bring up an address that belongs to another machine',
  },
  {
    rule: 'ssh host keys',
    matches: at(/^etc\/ssh\/ssh_host_.+_key(?:\.pub)?$/),
    why: 'the owner of one machine could impersonate all',
  },
  {
    rule: 'logs',
    matches: (entry) => isFile(entry) && /^var\/log\/(?!apt\/|README)/.test(entry.path) && entry.size > 0,
    why: 'they tell of another machine',
  },
  {
    rule: 'mac rules',
    matches: at(
      /^etc\/udev\/rules\.d\/70-persistent-(?:net|cd)\.rules$|^etc\/udev\/rules\.d\/75-cloud-ifupdown\.rules$/,
    ),
    why: 'they name cards by the hardware address of another machine',
  },
  {
    rule: 'resolver',
    // A link to what is found out at boot is how it should be.
    matches: (entry) => entry.path === 'etc/resolv.conf' && isFile(entry) && entry.size > 0,
    why: 'it would use the name servers of the computer that built it',
  },
  {
    rule: 'dhcp leases',
    matches: at(/^var\/lib\/(?:dhcp|NetworkManager|dhcpcd)\/.*lease/),
    why: 'it would ask for the address of another machine',
  },
  {
    rule: 'random seed',
    matches: at(/^var\/lib\/systemd\/random-seed$/),
    why: 'all machines would begin with the same chance',
  },
  {
    rule: 'history',
    matches: at(/^(?:root|home\/[^/]+)\/\.(?:bash|zsh|python)_history$/),
    why: 'it tells what somebody typed',
  },
  {
    rule: 'k3s state',
    matches: at(/^var\/lib\/rancher\/k3s\/server\/|^etc\/rancher\/node\/password$/),
    why: 'it would pass for a node of another cluster',
  },
]

/** Everything that shows that an image was used. Empty: it is clean. Pure. */
export function judgeCleanliness(entries: readonly ImageEntry[]): readonly Residue[] {
  const found: Residue[] = []
  for (const entry of entries)
    for (const { rule, matches, why } of RULES) if (matches(entry)) found.push({ rule, path: `/${entry.path}`, why })
  if (!entries.some(({ path }) => path === 'etc/machine-id'))
    found.push({
      rule: 'machine-id',
      path: '/etc/machine-id',
      why: 'without the file systemd does not know a first boot',
    })
  return found
}

/** The rules by name, for people and for the page. */
export const CLEAN_RULES: readonly string[] = [...new Set(RULES.map(({ rule }) => rule))]

/** Parses lines of `find -printf '%y %m %s %P\n'`. An invalid line comes from a name with a line break: refuse it. */
export function readListing(text: string): readonly ImageEntry[] | undefined {
  const entries: ImageEntry[] = []
  for (const line of text.split('\n')) {
    if (line === '') continue
    const [, type, mode, size, path] = /^(\S) ([0-7]+) (\d+) (.*)$/.exec(line) ?? []
    if (type === undefined || mode === undefined || path === undefined) return undefined
    entries.push({ type, mode, size: Number(size), path })
  }
  return entries
}

/** Returns the `find` commands that clean the root. They cover all rules, as a test proves. */
export function cleaningSteps(root: string): readonly (readonly string[])[] {
  const remove = (directory: string, ...test: readonly string[]) => [
    'find',
    `${root}/${directory}`,
    '-mindepth',
    '1',
    ...test,
    '-delete',
  ]
  return [
    // Ignore the builder's umask, which may be stricter.
    ['sh', '-c', 'umask 022 && exec mkdir -p -- "$@"', 'croft', ...CLEANED.map((directory) => `${root}/${directory}`)],
    remove('var/lib/cloud'),
    remove('run'),
    remove('etc/netplan'),
    remove('etc/network/interfaces.d'),
    remove('etc/systemd/network', '-name', '*.network'),
    remove('etc/ssh', '-name', 'ssh_host_*'),
    remove('etc', '-maxdepth', '1', '-type', 'f', '-name', 'resolv.conf'),
    remove('var/log', '-type', 'f'),
    remove('etc/udev/rules.d', '-name', '7[05]-*.rules'),
    remove('var/lib/dhcp'),
    remove('var/lib/NetworkManager'),
    remove('var/lib/dhcpcd'),
    remove('var/lib/systemd', '-name', 'random-seed'),
    // Directories too: their owner depends on the build. apt creates them again.
    remove('var/lib/apt/lists'),
    remove('var/cache/apt'),
    remove('var/cache/ldconfig', '-type', 'f'),
    remove('tmp'),
    remove('var/tmp'),
    remove('root', '-name', '.*_history'),
    remove('home', '-name', '.*_history'),
    ['rm', '-rf', `${root}/var/lib/rancher/k3s/server`, `${root}/etc/rancher/node`, `${root}/var/lib/dbus/machine-id`],
    // Empty and not absent: that is how systemd knows a first boot.
    ['install', '-m', '0444', '/dev/null', `${root}/etc/machine-id`],
  ]
}

const CLEANED = wordList(`
  var/lib/cloud run etc/netplan etc/network/interfaces.d etc/systemd/network etc/ssh var/log etc/udev/rules.d
  var/lib/dhcp var/lib/NetworkManager var/lib/dhcpcd var/lib/systemd var/lib/apt/lists var/cache/apt
  var/cache/ldconfig tmp var/tmp root home
`)

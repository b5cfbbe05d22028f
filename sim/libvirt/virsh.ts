import { createHash } from 'node:crypto'
import { between } from '../world/chance.ts'
import { newGuest, powerOff, powerOn } from '../world/guest-run.ts'
import { agentAnswer } from './agent.ts'
import { bytesOf, type Command, type Given, out, type Said, textOf } from './command.ts'
import {
  type Domain,
  disksIn,
  guestConfig,
  type LibvirtHost,
  textIn,
  volumeAt,
  volumes,
  withoutDisk,
} from './domains.ts'
import { PLACE_COMMANDS } from './place-commands.ts'
import { VOLUME_COMMANDS } from './volume-commands.ts'

/** One command of virsh on a simulated host, in the words of libvirt 9. */
export function virsh(at: LibvirtHost, words: readonly string[], input: string | Uint8Array | undefined): Said {
  const [verb = '', ...rest] = words
  const failure = at.failing.get(verb)
  if (failure !== undefined) return { error: failure }
  const command = DOMAIN_COMMANDS[verb] ?? VOLUME_COMMANDS[verb] ?? PLACE_COMMANDS[verb]
  return command === undefined ? { error: `unknown command: '${verb}'` } : command(at, options(rest, verb), input)
}

const FLAGS =
  /^--(?:all|uuid|inactive|security-info|state-running|state-paused|disable|persistent|eject|force|managed-save|nvram|checkpoints-metadata|atomic|build)$/

function options(rest: readonly string[], verb: string): Given {
  const words: string[] = []
  const named = new Map<string, string>()
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? ''
    if (FLAGS.test(word) || (word === '--name' && /-(?:list|current)$/.test(verb))) named.set(word.slice(2), '')
    else if (word.startsWith('--')) named.set(word.slice(2), rest[++at] ?? '')
    else words.push(word)
  }
  return { words, named }
}

function withDomain(action: (at: LibvirtHost, domain: Domain, given: Given) => Said): Command {
  return (at, given) => {
    const domain = at.domains.get(given.words[0] ?? '')
    return domain === undefined ? { error: `failed to get domain '${given.words[0]}'` } : action(at, domain, given)
  }
}

const DOMAIN_COMMANDS: Readonly<Record<string, Command>> = {
  'net-dhcp-leases': (at, { words: [network = ''] }) => {
    if (!at.networks.has(network)) return { error: `failed to get network '${network}'` }
    const rows = network !== 'default' ? [] : [...at.leases]
    const lines = rows.map(
      ([address, { mac, name }]) => ` 2025-10-09 12:00:00   ${mac}   ipv4       ${address}/24   ${name}   ff:00:01`,
    )
    const head =
      ' Expiry Time           MAC address         Protocol   IP address           Hostname   Client ID or DUID\n'
    return out(`${head}${'-'.repeat(100)}\n${lines.join('\n')}\n\n`)
  },
  list(at, { named }) {
    const state = named.has('state-running') ? 'running' : named.has('state-paused') ? 'paused' : undefined
    const all = [...at.domains.values()].filter((one) => state === undefined || stateOf(one) === state)
    return out(all.map(({ uuid }) => `${uuid}\n`).join(''))
  },
  capabilities: ({ identity: { uuid } }) =>
    out(`<capabilities>\n  <host>\n    <uuid>${uuid}</uuid>\n  </host>\n</capabilities>\n\n`),
  nodeinfo: ({ host }) =>
    out(`CPU(s):              ${host.cpus}\nMemory size:         ${host.memoryBytes / 1024} KiB\n`),
  dumpxml: withDomain((_, domain, { named }) =>
    out(`${named.has('inactive') ? domain.definition : (domain.live ?? domain.definition)}\n`),
  ),
  domname: withDomain((_, domain) => out(`${domain.name}\n\n`)),
  domstate: withDomain((_, domain) => out(`${stateOf(domain)}\n\n`)),
  dominfo: withDomain((_, domain) =>
    out(`Name:           ${domain.name}\nAutostart:      ${domain.autostart ? 'enable' : 'disable'}\n\n`),
  ),
  'snapshot-list': withDomain((_, domain) => out(domain.snapshots.map((name) => `${name}\n`).join(''))),
  'snapshot-current': withDomain((_, { snapshots }) => out(`${snapshots.at(-1) ?? ''}\n`)),
  'snapshot-dumpxml': withDomain((_, domain, { named }) => {
    const name = named.get('snapshotname') ?? ''
    if (!domain.snapshots.includes(name)) return { error: `Domain snapshot not found: no snapshot with name '${name}'` }
    return out(`<domainsnapshot><name>${name}</name><creationTime>1760000000</creationTime></domainsnapshot>\n`)
  }),
  'snapshot-create-as': withDomain((_, domain, { named }) => {
    const name = named.get('name') ?? ''
    if (domain.snapshots.includes(name)) return { error: `operation failed: domain snapshot ${name} already exists` }
    domain.snapshots.push(name)
    return out(`Domain snapshot ${name} created\n`)
  }),
  'snapshot-revert': withDomain((_, { snapshots }, { named }) =>
    snapshots.includes(named.get('snapshotname') ?? '')
      ? out('\n')
      : { error: `Domain snapshot not found: no snapshot with name '${named.get('snapshotname')}'` },
  ),
  'snapshot-delete': withDomain((_, { snapshots }, { named }) => {
    const at = snapshots.indexOf(named.get('snapshotname') ?? '')
    if (at < 0) return { error: `Domain snapshot not found: no snapshot with name '${named.get('snapshotname')}'` }
    const [name] = snapshots.splice(at, 1)
    return out(`Domain snapshot ${name} deleted\n\n`)
  }),
  define,
  undefine: withDomain((at, domain) => {
    if (domain.guest.run.status === 'running') return { error: 'Requested operation is not valid: domain is running' }
    at.domains.delete(domain.uuid)
    at.world.guests.delete(domain.guest.vmid)
    return out(`Domain '${domain.name}' has been undefined\n\n`)
  }),
  start,
  resume: withDomain((_, domain) => {
    domain.guest.run.paused = false
    return out(`Domain '${domain.name}' resumed\n\n`)
  }),
  shutdown: withDomain((at, domain) => {
    const { run } = domain.guest
    if (run.status !== 'running') return { error: 'Requested operation is not valid: domain is not running' }
    const { life, system, bootedAtMs } = run
    // Only a system that is up hears the button.
    if (system?.acpi === true && bootedAtMs !== undefined)
      at.world.clock.schedule(at.world.clock.now() + between(at.world.random, at.world.timing.shutdownMs), () => {
        if (domain.guest.run.life === life) switchOff(at, domain, true)
      })
    return out(`Domain '${domain.name}' is being shutdown\n\n`)
  }),
  destroy: withDomain((at, domain) => {
    if (domain.guest.run.status !== 'running')
      return { error: 'Requested operation is not valid: domain is not running' }
    switchOff(at, domain, false)
    return out(`Domain '${domain.name}' destroyed\n\n`)
  }),
  autostart: withDomain((_, domain, { named }) => {
    domain.autostart = !named.has('disable')
    return out(`Domain '${domain.name}' ${domain.autostart ? '' : 'un'}marked as autostarted\n\n`)
  }),
  desc: withDomain((_, domain, { words }) => {
    domain.definition = domain.definition
      .replace(/\s*<description>.*?<\/description>/s, '')
      .replace('</uuid>', `</uuid>\n  <description>${words.slice(1).join(' ')}</description>`)
    return out('Domain title updated successfully\n')
  }),
  'detach-disk': withDomain((_, domain, { words }) => {
    domain.definition = withoutDisk(domain.definition, words[1] ?? '')
    if (domain.live !== undefined) domain.live = withoutDisk(domain.live, words[1] ?? '')
    return out('Disk detached successfully\n\n')
  }),
  'change-media': withDomain((_, domain, { words }) => {
    const empty = (xml: string) => {
      const disk = disksIn(xml).find(({ dev }) => dev === words[1])
      return disk === undefined ? xml : xml.replace(disk.text, disk.text.replace(/\s*<source\s[^>]*\/>/, ''))
    }
    domain.definition = empty(domain.definition)
    if (domain.live !== undefined) domain.live = empty(domain.live)
    return out('Successfully ejected media.\n')
  }),
  blockresize: withDomain((at, domain, { words: [, dev, size = ''] }) => {
    const path = disksIn(domain.live ?? '').find((disk) => disk.dev === dev)?.path
    const place = path === undefined ? undefined : volumeAt(at, path)
    const volume = place === undefined ? undefined : volumes(at, place.pool).get(place.name)
    if (volume === undefined) return { error: `Failed to resize block device '${dev}'` }
    volume.sizeBytes = bytesOf(size)
    return out(`Block device '${dev}' is resized\n`)
  }),
  'qemu-agent-command': withDomain((at, domain, { words }) => {
    const answer = agentAnswer(at.world, domain.guest, words[1] ?? '')
    return answer === undefined
      ? { error: 'Guest agent is not responding: QEMU guest agent is not connected' }
      : out(`${JSON.stringify(answer)}\n\n`)
  }),
}

/** Defining what is there changes it; a UUID or a name that belongs to something else is refused. */
function define(at: LibvirtHost, _given: Given, input: string | Uint8Array | undefined): Said {
  const xml = textOf(input)
  const uuid = textIn(xml, 'uuid')
  const name = textIn(xml, 'name')
  if (uuid === undefined || name === undefined || !xml.startsWith('<domain')) return { error: 'XML error: no domain' }
  const there = at.domains.get(uuid)
  const named = [...at.domains.values()].find((one) => one.name === name)
  if (there !== undefined && there.name !== name)
    return {
      error: `Failed to define domain from /dev/stdin\nerror: operation failed: domain '${there.name}' already exists with uuid ${uuid}`,
    }
  if (named !== undefined && named.uuid !== uuid)
    return {
      error: `Failed to define domain from /dev/stdin\nerror: operation failed: domain '${name}' already exists with uuid ${named.uuid}`,
    }
  const definition = completed(xml, uuid)
  if (there !== undefined) there.definition = definition
  else {
    const vmid = nextNumber(at)
    const guest = newGuest(vmid, 'qemu', at.host.name, new Map([['name', name]]))
    at.world.guests.set(vmid, guest)
    at.domains.set(uuid, { uuid, name, definition, live: undefined, autostart: false, snapshots: [], guest })
  }
  return out(`Domain '${name}' defined from /dev/stdin\n\n`)
}

/** libvirt gives every card a hardware address, and says which machine it really is. */
function completed(xml: string, uuid: string): string {
  let card = 0
  return xml
    .replace(/machine='(q35|pc)'/, (_, kind: string) => `machine='${kind === 'q35' ? 'pc-q35-7.2' : 'pc-i440fx-7.2'}'`)
    .replace(/<interface\s[^>]*>(?:(?!<\/interface>).)*<\/interface>/gs, (text) => {
      card++
      if (text.includes('<mac ')) return text
      const hash = createHash('sha256').update(`${uuid}/${card}`).digest('hex')
      return text.replace(
        '>',
        `>\n      <mac address='52:54:00:${hash.slice(0, 2)}:${hash.slice(2, 4)}:${hash.slice(4, 6)}'/>`,
      )
    })
}

/** Far from the numbers of Proxmox guests that may live in the same world. */
const FIRST_NUMBER = 700_000

function nextNumber({ world }: LibvirtHost): number {
  let number = FIRST_NUMBER
  while (world.guests.has(number)) number++
  return number
}

function start(at: LibvirtHost, given: Given): Said {
  const domain = at.domains.get(given.words[0] ?? '')
  if (domain === undefined) return { error: `failed to get domain '${given.words[0]}'` }
  const failing = `Failed to start domain '${domain.name}'\nerror: `
  if (domain.guest.run.status === 'running')
    return { error: `${failing}Requested operation is not valid: domain is already running` }
  for (const { path } of disksIn(domain.definition)) {
    const place = path === undefined ? undefined : volumeAt(at, path)
    if (path !== undefined && (place === undefined || !volumes(at, place.pool).has(place.name)))
      return { error: `${failing}Cannot access storage file '${path}': No such file or directory` }
  }
  domain.live = domain.definition.replace('<domain ', `<domain id='${at.host.nextPid}' `)
  domain.guest.config.clear()
  for (const [key, value] of guestConfig(at, domain)) domain.guest.config.set(key, value)
  powerOn(at.world, at.host, domain.guest)
  return out(`Domain '${domain.name}' started\n\n`)
}

function switchOff(at: LibvirtHost, domain: Domain, graceful: boolean): void {
  powerOff(at.world, domain.guest, graceful)
  domain.live = undefined
}

function stateOf({ guest }: Domain): string {
  if (guest.run.status !== 'running') return 'shut off'
  return guest.run.paused ? 'paused' : 'running'
}

import { seedDocument } from '../../cloudinit/document.ts'
import { stableMac } from '../../cloudinit/mac.ts'
import { mergeUserData } from '../../cloudinit/merge.ts'
import { networkConfig } from '../../cloudinit/network-config.ts'
import type { SeedProblem } from '../../cloudinit/shape.ts'
import { neededUserData, parseUserData } from '../../cloudinit/user-data.ts'
import { checkUserData } from '../../cloudinit/validate.ts'
import { defined } from '../../lib/defined.ts'
import { type Declaration, resourceUid } from '../../model/declaration.ts'
import type { TreeMap, VmNic, VmSeed } from '../../model/vm.ts'
import type { FieldProblem, Lookup } from '../kind.ts'
import type { HostSpec } from '../schemas/host.ts'
import { isVolume, type MachineSpec } from '../schemas/machine.ts'
import { unbound } from './bindings.ts'
import { addressingOf, type CardSettings, dnsOf, type NetworkCard } from './network-cards.ts'

type SeededMachine = Declaration<MachineSpec>

/** Reports whether the machine reads a generated document. An adopted one does not: it has booted long ago. */
export function isSeeded({ spec, policy }: SeededMachine): boolean {
  const { user, sshKeys, userData, hostname, disks } = spec
  const configured = [user, sshKeys, userData, hostname].some((part) => part !== undefined)
  const fromImage = disks.some((disk) => disk.image !== undefined)
  return policy.adopt === undefined && disks.length > 0 && !isVolume(userData) && (configured || fromImage)
}

/** Every card with a hardware address: the document names it, so it must be known before the machine is made. */
export function withMacs(machine: SeededMachine, estate: string, nics: readonly VmNic[]): readonly VmNic[] {
  const uid = resourceUid(estate, machine.key)
  return nics.map((nic) => ({ ...nic, mac: nic.mac ?? stableMac(uid, nic.slot) }))
}

/** Returns the document for the machine's first boot, or its problems. */
export function seedOf(
  machine: SeededMachine,
  host: Declaration<HostSpec>,
  cards: readonly NetworkCard[],
  lookup: Lookup,
  problems: FieldProblem[],
): VmSeed | undefined {
  const { spec } = machine
  const settings = spec.cloudInit ?? { onChange: 'ignore', removeAfterSeconds: 300 }
  const storage = storageOf(machine, host, lookup, problems)
  const userData = userDataOf(machine, cards, problems)
  if (userData === undefined) return undefined
  const { document, hash } = seedDocument({
    hostname: hostnameOf(machine),
    userData,
    ...(cards.length === 0 ? {} : { networkConfig: networkConfig(addressing(spec, cards)) }),
  })
  return defined<VmSeed>({
    document,
    hash,
    onChange: settings.onChange,
    slot: 'ide2',
    storage,
    removeAfterSeconds: settings.removeAfterSeconds,
  })
}

function hostnameOf({ spec, name }: SeededMachine): string {
  return spec.hostname ?? name.split('.')[0] ?? name
}

function userDataOf(
  machine: SeededMachine,
  cards: readonly NetworkCard[],
  problems: FieldProblem[],
): TreeMap | undefined {
  const { spec } = machine
  const written = spec.userData
  const isText = typeof written === 'string'
  const asProblems = (found: readonly SeedProblem[]) => {
    for (const { path, message, hint } of found) {
      const place = isText ? [] : path
      problems.push(
        defined<FieldProblem>({ code: 'bad-user-data', path: ['spec', 'userData', ...place], message, hint }),
      )
    }
    return undefined
  }
  const own = isText ? parseUserData(written) : { tree: JSON.parse(JSON.stringify(written ?? {})) as TreeMap }
  if ('problems' in own) return asProblems(own.problems)
  const wrong = checkUserData(own.tree)
  if (wrong.length > 0) return asProblems(wrong)
  const needed = neededUserData(
    defined({
      hostname: hostnameOf(machine),
      domain: spec.dns?.domain ?? dnsOf(cards)?.domain,
      user: spec.user,
      sshKeys: spec.sshKeys,
    }),
  )
  const merged = mergeUserData(needed, own.tree)
  return 'problems' in merged ? asProblems(merged.problems) : merged.tree
}

/** The cards with their addresses; the first that has a default route has the name servers. */
function addressing(spec: MachineSpec, cards: readonly NetworkCard[]) {
  const addresses = addressingOf(cards)
  const naming = Math.max(
    addresses.findIndex(({ gateway4 }) => gateway4 !== undefined),
    0,
  )
  const dns = dnsOf(cards)
  const servers = spec.dns?.servers ?? dns?.servers
  const domain = spec.dns?.domain ?? dns?.domain
  return cards.map(({ nic }, index) =>
    defined<Parameters<typeof networkConfig>[0][number]>({
      id: nic.slot,
      mac: nic.mac ?? '',
      ...(addresses[index] as CardSettings),
      nameservers: index === naming ? servers : undefined,
      search: index === naming && domain !== undefined ? [domain] : undefined,
    }),
  )
}

function storageOf(
  machine: SeededMachine,
  host: Declaration<HostSpec>,
  lookup: Lookup,
  problems: FieldProblem[],
): string | undefined {
  const logical = machine.spec.cloudInit?.storage
  if (logical === undefined) return undefined
  const { storages } = host.spec.bindings
  if (Object.hasOwn(storages, logical)) return storages[logical]
  problems.push(unbound('storages', logical, host, ['spec', 'cloudInit', 'storage'], lookup))
  return undefined
}

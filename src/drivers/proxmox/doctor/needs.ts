import { defined } from '../../../lib/defined.ts'
import type { ResourceKey } from '../../../model/declaration.ts'
import type { Connection } from '../../../model/estate.ts'
import type { ObservedResource, Resource } from '../../../model/resource.ts'
import type { SettingSpec } from '../../../model/rest.ts'
import type { RestCall } from '../../../model/step.ts'
import { definitionNamed } from '../../../proxmox/registry.ts'
import { parseProperties } from '../property-string.ts'
import { fill, placesOf } from '../rest/paths.ts'
import { proxmoxRules as rules, storagesFor } from '../rules.ts'
import { guestPath, storagePath } from '../steps.ts'
import { distinct, type Need, type PrivilegeSet, way } from './need.ts'
import { bridgePaths, needsOfOption, type OptionNeeds, sees, storageOf } from './option-privileges.ts'
import { needsOfCall } from './privileges.ts'

export interface NeedOptions {
  readonly connection: Pick<Connection, 'ids'>
  /** Proxmox VE 8 has one privilege for all uses of the guest agent. */
  readonly major?: number
  /** Machines whose agent runs programs for croft: nodes of clusters, and targets of checks. */
  readonly entered?: ReadonlySet<ResourceKey>
  /** SDN zone of a bridge; `localnetwork` for the plain ones. */
  readonly zoneOf?: (bridge: string) => string
}

/** The privileges that the declarations of one connection need, and the unknown ones. */
export interface Needs {
  readonly needs: readonly Need[]
  /** Calls that the table of privileges lacks. */
  readonly unknown: readonly string[]
}

/**
 * Returns all privileges that the declarations need to create, read and maintain each thing. Deletions of undeclared
 * things are excluded, since they cannot be foreseen.
 */
export function needsOf(resources: readonly Resource[], options: NeedOptions): Needs {
  const unknown = new Set<string>()
  const needs: Need[] = []
  const guests = resources.some(({ desired }) => desired.type === 'vm' || desired.type === 'container')
  if (guests) {
    const sees = { path: '/vms', privileges: ['VM.Audit'], below: true } as const
    needs.push({ ways: [sees], why: 'see every guest, also while it is being made', without: 'refused' })
  }
  for (const host of new Set(resources.map((resource) => rules.hostOf(resource)))) {
    if (host === '') continue
    const sees = { path: `/nodes/${host}`, privileges: ['Sys.Audit'], place: '/nodes' }
    needs.push({ ways: [sees], why: `see the memory, the clock and the tasks of ${host}`, without: 'blind' })
  }
  for (const resource of resources) {
    for (const { call, why } of [...looksAt(resource, options), ...writesTo(resource, options)]) {
      const found = needsOfOne(call, why, poolOf(resource), options)
      if (found === undefined) unknown.add(`${call.method} ${call.path}`)
      else needs.push(...found)
    }
    needs.push(...keepsMoments(resource, options))
    if (resource.desired.type === 'setting')
      needs.push(...statedNeeds(resource.desired.setting, `keep ${resource.key}`))
    for (const storage of seenStorages(resource))
      needs.push({
        ways: [way(`/storage/${storage} Datastore.Audit`)],
        why: `see that ${storage} is on a host, and how much room is left`,
        without: 'refused',
      })
    const pool = poolOf(resource)
    if (pool !== undefined)
      needs.push({
        ways: [way(`/pool/${pool} Pool.Audit`)],
        why: `see which guests are in pool ${pool}`,
        without: 'refused',
      })
  }
  const major = options.major ?? 9
  return { needs: distinct(major >= 9 ? needs : needs.map(beforeNine)), unknown: [...unknown] }
}

function poolOf({ desired }: Resource): string | undefined {
  if (desired.type === 'vm') return desired.vm.pool
  return desired.type === 'container' ? desired.container.pool : undefined
}

/** The system's list shows a storage only with this right; without it a guest has no storage. */
function seenStorages({ desired }: Resource): readonly string[] {
  return desired.type === 'file' ? [desired.file.storage] : storagesFor(desired)
}

function idOf(resource: Resource, { connection }: NeedOptions): string {
  return rules.declaredId(resource) ?? resource.policy.adopt ?? String(connection.ids.from)
}

function looksAt(resource: Resource, options: NeedOptions): { call: RestCall; why: string }[] {
  const { desired } = resource
  const why = `look at ${resource.key}`
  const read = (path: string) => ({ call: { method: 'GET', path, params: {} } as const, why })
  if (desired.type === 'file') return [read(`${storagePath(desired.file.host, desired.file.storage)}/content`)]
  if (desired.type === 'setting') return settingReads(desired.setting).map((call) => ({ call, why }))
  if (desired.type === 'item' || desired.type === 'object') return []
  const path = guestPath(rules.hostOf(resource), desired.type, idOf(resource, options))
  const looks = ['pending', 'config', 'status/current'].map((part) => read(`${path}/${part}`))
  if (desired.type !== 'vm' || desired.vm.agent?.enabled !== true) return looks
  const asks = `see whether the agent of ${resource.key} answers`
  const answers = [{ ...read(`${path}/agent/network-get-interfaces`), why: asks }]
  if (desired.vm.cloudInit !== undefined || desired.vm.seed !== undefined)
    answers.push({ ...read(`${path}/agent/file-read`), why: `see how the first boot of ${resource.key} went` })
  if (options.entered?.has(resource.key) !== true) return [...looks, ...answers]
  const enters = `run programs in ${resource.key} through its agent`
  return [...looks, ...answers, { call: { method: 'POST', path: `${path}/agent/exec`, params: {} }, why: enters }]
}

/** Returns the calls that create the thing, and those that correct it if every field is wrong. */
function writesTo(resource: Resource, options: NeedOptions): { call: RestCall; why: string }[] {
  if (resource.policy.manage === 'observe') return []
  const id = idOf(resource, options)
  const steps = [...rules.createSteps(resource, id)]
  for (const power of ['running', 'stopped'] as const) {
    const wrong = observedFrom(resource, id, power)
    steps.push(...rules.updateSteps(resource, wrong, rules.diff(resource, wrong)))
    if (resource.desired.type !== 'file') steps.push(...rules.adoptSteps(resource, wrong))
  }
  // Calls over SSH need no right of the token.
  return steps.flatMap(({ call, summary }) => (call === undefined ? [] : [{ call, why: summary }]))
}

function observedFrom(resource: Resource, externalId: string, power: 'running' | 'stopped'): ObservedResource {
  const list = rules.listOf(resource)
  const pool = poolOf(resource)
  return {
    connection: resource.connection,
    type: resource.desired.type,
    externalId,
    host: rules.hostOf(resource),
    power,
    ...defined({ list, pool }),
    close: { config: resource.desired.type === 'file' ? { size: 0 } : {}, atMs: 0 },
  }
}

/** Returns the rights for `croft machine snapshot`, `revert` and `drop-snapshot`. An apply does not need them. */
function keepsMoments(resource: Resource, options: NeedOptions): readonly Need[] {
  const { desired, policy, key } = resource
  if ((desired.type !== 'vm' && desired.type !== 'container') || policy.manage === 'observe') return []
  const path = `${guestPath(rules.hostOf(resource), desired.type, idOf(resource, options))}/snapshot`
  const calls: readonly RestCall[] = [
    { method: 'POST', path, params: {} },
    { method: 'POST', path: `${path}/before/rollback`, params: {} },
    { method: 'DELETE', path: `${path}/before`, params: {} },
  ]
  const why = `take snapshots of ${key}, go back to them and remove them`
  return calls.flatMap((call) => needsOfOne(call, why, poolOf(resource), options) ?? []).map(optional)
}

function optional(need: Need): Need {
  return { ...need, without: 'blind' }
}

const NOT_OPTIONS = new Set(['vmid', 'pool', 'digest', 'delete', 'node'])

function needsOfOne(call: RestCall, why: string, pool: string | undefined, options: NeedOptions): Need[] | undefined {
  const asked = needsOfCall(call)
  if (asked === undefined) return undefined
  if (asked === 'root') return [{ ways: [], why, without: 'refused' }]
  const type = /^\/nodes\/[^/]+\/(qemu|lxc)(?:\/\d+\/config)?$/.exec(call.path)?.[1]
  const configures = type !== undefined && call.method !== 'GET'
  // The written options tell more exactly which groups of rights are needed.
  const needs: Need[] = configures ? [] : asked.map((ways) => ({ ways: viaPool(ways, pool), why, without: 'refused' }))
  if (!configures) return needs
  const guest = `/vms/${/\/(?:qemu|lxc)\/(\d+)/.exec(call.path)?.[1] ?? call.params.vmid ?? ''}`
  const creates = call.method === 'POST' && !call.path.endsWith('/config')
  if (creates) needs.push(onGuest(guest, ['VM.Allocate'], why, pool))
  for (const [name, value] of Object.entries(call.params)) {
    if (NOT_OPTIONS.has(name)) continue
    const ofOption = type === 'lxc' ? needsOfContainerOption : needsOfOption
    const option = ofOption(name, value, options.zoneOf ?? (() => 'localnetwork'))
    if (option.rootOnly) needs.push({ ways: [], why: `set ${name} to ${why}`, without: 'refused' })
    // Tags of a new guest are checked without its pool, which it joins last.
    const through = creates && name === 'tags' ? undefined : pool
    for (const privileges of option.guest) needs.push(onGuest(guest, privileges, why, through))
    for (const ways of option.elsewhere) needs.push({ ways: ways.map(way), why, without: 'refused' })
  }
  return needs
}

function onGuest(path: string, anyOf: readonly string[], why: string, pool: string | undefined): Need {
  const ways = anyOf.map((privilege) => ({ path, privileges: [privilege] }))
  return { ways: viaPool(ways, pool), why, without: 'refused' }
}

/** A guest has the rights of its pool, and its creation in a pool needs the pool's rights. */
function viaPool(ways: readonly PrivilegeSet[], pool: string | undefined): readonly PrivilegeSet[] {
  if (pool === undefined) return ways
  const through = ways.filter(({ path }) => path.startsWith('/vms/')).map((one) => ({ ...one, path: `/pool/${pool}` }))
  return [...through, ...ways]
}

function beforeNine(need: Need): Need {
  const agent = (privilege: string) => (privilege.startsWith('VM.GuestAgent.') ? 'VM.Monitor' : privilege)
  const ways = need.ways.map((one) => ({ ...one, privileges: one.privileges.map(agent) }))
  const seen = new Set<string>()
  const different = ways.filter((one) => {
    const text = JSON.stringify(one)
    return !seen.has(text) && seen.add(text) !== undefined
  })
  return { ...need, ways: different }
}

/** Returns the calls that find and read a setting. */
function settingReads(setting: SettingSpec): readonly RestCall[] {
  const { list } = definitionNamed(setting.definition)
  const paths = [fill(list.path, placesOf(setting)), ...(list.item === undefined ? [] : [list.item.path])]
  return paths.map((path) => ({ method: 'GET', path: fill(path, placesOf(setting, setting.id)), params: {} }))
}

/**
 * Returns the definition's own needs: `Pool.Audit on /pool/{id}`. Many lists are readable by all and show only
 * permitted entries, so the calls alone do not tell. Needs without an exact path come from the calls.
 */
function statedNeeds(setting: SettingSpec, why: string): readonly Need[] {
  const { privileges } = definitionNamed(setting.definition)
  const places = placesOf(setting, setting.id)
  return privileges.flatMap((stated): Need[] => {
    const match = /^([A-Z]\w*\.[\w.]+) on (\/[a-z0-9{}/._-]*)$/i.exec(stated)
    const [, privilege = '', path = ''] = match ?? []
    const known = [...path.matchAll(/\{(\w+)\}/g)].every(([, name = '']) => places[name] !== undefined)
    if (match === null || !known || /[A-Z]/.test(path)) return []
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => places[name] ?? '')
    return [{ ways: [way(`${filled} ${privilege}`)], why, without: 'refused' }]
  })
}

const GROUPS: readonly (readonly [RegExp, string])[] = [
  [/^(?:cores|cpulimit|cpuunits)$/, 'VM.Config.CPU'],
  [/^(?:memory|swap)$/, 'VM.Config.Memory'],
  [/^(?:rootfs|mp\d+)$/, 'VM.Config.Disk'],
  [/^(?:net\d+|hostname|nameserver|searchdomain)$/, 'VM.Config.Network'],
]
/** Only at a container's creation, and not in its configuration. */
const OF_CREATION = /^(?:ostemplate|storage|password|ssh-public-keys|start|force|ignore-unpack-errors)$/

/** As `needsOfOption`, for containers: an option in no group is a plain one. */
export function needsOfContainerOption(name: string, value: string, zoneOf: (bridge: string) => string): OptionNeeds {
  const rootOnly = { guest: [], elsewhere: [], rootOnly: true } as const
  if (/^dev\d+$/.test(name) || name === 'hookscript') return rootOnly
  if (name === 'features') return needsOfFeatures(value)
  // Root inside is root outside.
  if (name === 'unprivileged') return { guest: [], elsewhere: value === '0' ? [['/ Sys.Modify']] : [] }
  if (OF_CREATION.test(name)) return { guest: [], elsewhere: elsewhereOfCreation(name, value) }
  const privilege = GROUPS.find(([pattern]) => pattern.test(name))?.[1] ?? 'VM.Config.Options'
  if (privilege !== 'VM.Config.Disk')
    return {
      guest: [[privilege]],
      elsewhere: name.startsWith('net') ? bridgePaths(value, zoneOf).map((path) => [`${path} SDN.Use`]) : [],
    }
  const volume = parseProperties(value, 'volume').get('volume') ?? ''
  // A directory or device of the host.
  if (volume.startsWith('/')) return rootOnly
  const fresh = /^([^:/]+):\d+(?:\.\d+)?$/.exec(volume)?.[1]
  return { guest: [[privilege]], elsewhere: fresh === undefined ? [] : [[`/storage/${fresh} Datastore.AllocateSpace`]] }
}

function needsOfFeatures(value: string): OptionNeeds {
  const others = [...parseProperties(value, '').keys()].some((feature) => feature !== 'nesting')
  return others ? { guest: [], elsewhere: [], rootOnly: true } : { guest: [['VM.Allocate']], elsewhere: [] }
}

function elsewhereOfCreation(name: string, value: string): (readonly string[])[] {
  if (name === 'storage') return [[`/storage/${value} Datastore.AllocateSpace`]]
  return name === 'ostemplate' ? storageOf(value).map(sees) : []
}

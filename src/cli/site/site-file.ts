import { z } from 'zod'
import { ipAddress } from '../../kinds/fields/address.ts'
import { explain } from '../../kinds/fields/explain.ts'
import { mebibytes, size, vmid, whole } from '../../kinds/fields/number.ts'
import { bridgeName, hostName, poolName, storageName } from '../../kinds/fields/text.ts'
import type { FieldProblem } from '../../kinds/kind.ts'
import type { Problem } from '../../model/declaration.ts'
import type { Site, SiteGuest, SiteStorage } from '../../model/site.ts'
import { readDocuments, type SourceDocument } from '../../source/manifest.ts'
import { fieldOriginAt, fieldProblemAt } from '../../source/yaml/problem-at.ts'

const TYPES = ['dir', 'zfspool', 'lvmthin', 'lvm', 'btrfs', 'nfs', 'cifs', 'cephfs', 'rbd', 'pbs'] as const
const CONTENT = ['images', 'rootdir', 'iso', 'vztmpl', 'backup', 'snippets', 'import'] as const

const storageSchema = z.strictObject({
  name: storageName,
  type: z.enum(TYPES).optional(),
  size: size.optional(),
  content: z.array(z.enum(CONTENT)).optional(),
  shared: z.boolean().optional(),
})

const schema = z.strictObject({
  hosts: z
    .array(
      z.strictObject({
        name: hostName,
        address: ipAddress.optional(),
        cpus: whole(1, 8192).optional(),
        memory: size.optional(),
        bridges: z.array(bridgeName).optional(),
        storages: z.array(storageSchema).optional(),
        guests: z.array(z.strictObject({ id: vmid, name: hostName, template: z.boolean().optional() })).optional(),
      }),
    )
    .min(1),
  pools: z.array(poolName).optional(),
})

type SiteDocument = z.output<typeof schema>
type SitePath = FieldProblem['path']

/** A site as a file lists it: hosts with their bridges, storages and guests. Pure. */
export function readSiteFile(
  text: string,
  file: string,
): { readonly site: Site } | { readonly problems: readonly Problem[] } {
  const [read, second] = readDocuments(text)
  const document: SourceDocument = read?.document ?? { text: '', line: 1 }
  const at = (problem: FieldProblem) => fieldProblemAt({ document, base: [] }, problem, { file })
  if (read === undefined) return { problems: [at(bad([], 'the file is empty', 'list hosts: [{name: pve1}]'))] }
  if (second !== undefined) {
    const problem = bad([], 'a site is one document, and the file has several', 'name the directory to take manifests')
    return { problems: [fieldProblemAt({ document: second.document, base: [] }, problem, { file })] }
  }
  const [finding] = read.findings
  if (finding !== undefined) {
    const line = document.line + text.slice(0, finding.offset).split('\n').length - 1
    const origin = { file, line, column: 1 }
    return { problems: [{ code: finding.code, origin, message: finding.message, severity: 'error' }] }
  }
  const parsed = schema.safeParse(read.value)
  if (!parsed.success) return { problems: explain(schema, parsed.error, read.value, []).map(at) }
  const problems = [...repeated(parsed.data), ...contradicted(parsed.data)]
  if (problems.length > 0) return { problems: problems.map(at) }
  return { site: siteOf(parsed.data, (path) => fieldOriginAt({ document, base: [] }, path, { file })) }
}

function bad(path: SitePath, message: string, hint: string): FieldProblem {
  return { code: 'bad-value', path, message, hint }
}

/** Names of hosts and numbers of guests are each given once in a datacentre. */
function repeated({ hosts }: SiteDocument): readonly FieldProblem[] {
  const seen = new Set<string>()
  const again = (what: string, path: SitePath): readonly FieldProblem[] => {
    if (!seen.has(what)) {
      seen.add(what)
      return []
    }
    return [bad(path, `${what} is listed twice`, 'leave one of them out')]
  }
  return hosts.flatMap(({ name, guests = [], storages = [], bridges = [] }, index) => [
    ...again(`host ${name}`, ['hosts', index, 'name']),
    ...bridges.flatMap((bridge, at) => again(`bridge ${bridge} of ${name}`, ['hosts', index, 'bridges', at])),
    ...storages.flatMap((one, at) => again(`storage ${one.name} of ${name}`, ['hosts', index, 'storages', at, 'name'])),
    ...guests.flatMap(({ id }, at) => again(`guest ${id}`, ['hosts', index, 'guests', at, 'id'])),
  ])
}

/** A storage of several hosts is one entry of the datacentre: it cannot be two things. */
function contradicted({ hosts }: SiteDocument): readonly FieldProblem[] {
  const first = new Map<string, { readonly host: string; readonly storage: z.output<typeof storageSchema> }>()
  return hosts.flatMap(({ name: host, storages = [] }, index) =>
    storages.flatMap((storage, at) => {
      const known = first.get(storage.name)
      if (known === undefined) {
        first.set(storage.name, { host, storage })
        return []
      }
      return (['type', 'size', 'shared'] as const).flatMap((field) => {
        const [said, before] = [storage[field], known.storage[field]]
        if (said === undefined || said === before) return []
        const other = before === undefined ? 'does not say it' : `says ${String(before)}`
        return [
          bad(
            ['hosts', index, 'storages', at, field],
            `${field} of storage ${storage.name} is ${String(said)} here, and host ${known.host} ${other}: it is one entry`,
            'write the same on both hosts, or say it only on the first',
          ),
        ]
      })
    }),
  )
}

function siteOf({ hosts, pools = [] }: SiteDocument, from: (path: SitePath) => SiteStorage['from']): Site {
  const part = (name: string, path: SitePath) => withOrigin({ name }, from(path))
  const storages = new Map<string, SiteStorage>()
  const guests: SiteGuest[] = []
  for (const [index, host] of hosts.entries()) {
    for (const [at, one] of (host.storages ?? []).entries()) {
      const known = storages.get(one.name)
      const on = [...(known?.hosts ?? []), host.name]
      storages.set(one.name, { ...(known ?? storageOf(one, from(['hosts', index, 'storages', at]))), hosts: on })
    }
    for (const [at, { id, name, template = false }] of (host.guests ?? []).entries()) {
      const storage = host.storages?.find((one) => isForDisks(one))?.name ?? 'local'
      const guest = { vmid: id, type: 'qemu' as const, host: host.name, name, template, running: !template }
      const disks = { scsi0: { storage, gib: 8 } }
      guests.push(withOrigin({ ...guest, config: { agent: '1' }, disks }, from(['hosts', index, 'guests', at])))
    }
  }
  return {
    hosts: hosts.map(({ name, address, cpus, memory, bridges }, index) =>
      withOrigin(
        {
          name,
          ...(address === undefined ? {} : { address }),
          ...(cpus === undefined ? {} : { cpus }),
          ...(memory === undefined ? {} : { memoryBytes: bytesOf(memory) }),
          bridges: bridges?.map((bridge, at) => part(bridge, ['hosts', index, 'bridges', at])) ?? [{ name: 'vmbr0' }],
          cards: [],
          pci: [],
          usb: [],
        },
        from(['hosts', index, 'name']),
      ),
    ),
    // All installations have it.
    storages: [...(storages.has('local') ? [] : [{ name: 'local', type: 'dir' }]), ...storages.values()],
    pools: pools.map((pool, index) => part(pool, ['pools', index])),
    guests,
    files: [],
  }
}

function withOrigin<Part extends object>(part: Part, from: SiteStorage['from']): Part & Pick<SiteStorage, 'from'> {
  return from === undefined ? part : { ...part, from }
}

function isForDisks({ type, content, name }: z.output<typeof storageSchema>): boolean {
  return content === undefined ? type !== 'pbs' && name !== 'local' : content.includes('images')
}

function storageOf(storage: z.output<typeof storageSchema>, from: SiteStorage['from']): SiteStorage {
  const { name, content, shared } = storage
  return withOrigin(
    {
      name,
      type: storage.type ?? usualType(name),
      ...(content === undefined ? {} : { content }),
      ...(shared === undefined ? {} : { shared }),
      ...(storage.size === undefined ? {} : { bytes: bytesOf(storage.size) }),
    },
    from,
  )
}

function usualType(name: string): string {
  if (name === 'local') return 'dir'
  return name.includes('lvm') ? 'lvmthin' : name.includes('zfs') ? 'zfspool' : 'dir'
}

function bytesOf(text: string): number {
  return (mebibytes(text) ?? 0) * 2 ** 20
}

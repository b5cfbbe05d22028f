/**
 * Writes the tables in sim/proxmox/facts from a schema of the Proxmox VE API (one JSON line per path and method).
 * Only facts go in: names, types, limits, formats, permissions. No sentence of anybody's documentation.
 *
 *   node bin/run scripts/proxmox-facts.ts [schema.jsonl.gz]
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import {
  AREAS,
  type AreaTable,
  areaOf,
  type WrittenNames,
  type WrittenOperation,
  type WrittenShape,
} from '../sim/proxmox/facts/form.ts'

const VERSION = '9.2'
const FACTS = new URL('../sim/proxmox/facts/', import.meta.url)

/** How many of each numbered parameter there are. The schema only says `net[n]`. */
const COUNTS: Readonly<Record<string, number>> = {
  acmedomain: 6,
  dev: 256,
  hostpci: 16,
  ide: 4,
  ipconfig: 32,
  link: 8,
  mp: 256,
  net: 32,
  numa: 8,
  parallel: 3,
  sata: 6,
  scsi: 31,
  serial: 4,
  unused: 256,
  usb: 14,
  virtio: 16,
  virtiofs: 10,
}

/** The schema was freed of texts by that name, and with them went the parameter that is called so. */
const DESCRIPTIONS: Readonly<Record<string, number | undefined>> = {
  'POST /access/tfa/{userid}': 255,
  'PUT /access/tfa/{userid}/{id}': 255,
  'POST /cluster/mapping/dir': 4096,
  'PUT /cluster/mapping/dir/{id}': 4096,
  'POST /cluster/mapping/pci': 4096,
  'PUT /cluster/mapping/pci/{id}': 4096,
  'POST /cluster/mapping/usb': 4096,
  'PUT /cluster/mapping/usb/{id}': 4096,
  'PUT /cluster/options': 65_536,
  'PUT /nodes/{node}/config': 65_536,
  'POST /nodes/{node}/lxc': 8192,
  'PUT /nodes/{node}/lxc/{vmid}/config': 8192,
  'POST /nodes/{node}/lxc/{vmid}/clone': undefined,
  'POST /nodes/{node}/lxc/{vmid}/snapshot': undefined,
  'PUT /nodes/{node}/lxc/{vmid}/snapshot/{snapname}/config': undefined,
  'POST /nodes/{node}/qemu': 8192,
  'POST /nodes/{node}/qemu/{vmid}/config': 8192,
  'PUT /nodes/{node}/qemu/{vmid}/config': 8192,
  'POST /nodes/{node}/qemu/{vmid}/clone': undefined,
  'POST /nodes/{node}/qemu/{vmid}/snapshot': undefined,
  'PUT /nodes/{node}/qemu/{vmid}/snapshot/{snapname}/config': undefined,
}

interface SchemaProperty {
  type?: string
  format?: string | Record<string, SchemaProperty>
  enum?: (string | number)[]
  pattern?: string
  minimum?: number | string
  maximum?: number | string
  minLength?: number
  maxLength?: number
  optional?: number | boolean
  items?: SchemaProperty
  requires?: string
  default_key?: number
  alias?: string
  keyAlias?: string
  oneOf?: SchemaProperty[]
  'instance-types'?: string[]
  'instance-type'?: string
  'type-property'?: string
  'type-property-schema'?: SchemaProperty
  branch?: true
  properties?: Record<string, SchemaProperty>
}

interface SchemaLine {
  method: string
  path: string
  parameters: SchemaProperty & { additionalProperties?: number; allOf?: SchemaProperty[] }
  returns: SchemaProperty
  permissions?: { user?: string; check?: Check }
  proxyto?: string
  protected?: number
  allowtoken: number
}

type Check = readonly (string | number | readonly string[] | Check)[]

/** Keeps each distinct value once and gives its number. */
function numbered<T>(): { readonly all: T[]; numberOf(value: T): number } {
  const all: T[] = []
  const known = new Map<string, number>()
  return {
    all,
    numberOf(value) {
      const key = JSON.stringify(value)
      const found = known.get(key)
      if (found !== undefined) return found
      known.set(key, all.length)
      return all.push(value) - 1
    },
  }
}

type Shapes = ReturnType<typeof numbered<WrittenShape>>

/** Perl's notation to JavaScript's: `(?^i:` is `(?i:`, `(?^:` is `(?:`, `{,8}` is `{0,8}`. */
function pattern(perl: string): string {
  return perl
    .replaceAll(/\(\?\^([a-z]*):/g, (_, flags: string) => (flags.includes('i') ? '(?i:' : '(?:'))
    .replaceAll('{,', '{0,')
}

function shapeOf(property: SchemaProperty, shapes: Shapes): WrittenShape {
  const { type, format } = property
  const from = property.minimum
  const to = property.maximum
  return {
    ...(type === 'integer' || type === 'number' || type === 'boolean' || type === 'array' ? { is: type } : {}),
    ...(typeof format === 'string' ? { as: format } : {}),
    ...(typeof format === 'object' ? { keys: keysOf(format, shapes) } : {}),
    ...(property.enum ? { in: property.enum.map(String) } : {}),
    ...(property.pattern === undefined ? {} : { like: pattern(property.pattern) }),
    ...(from === undefined ? {} : { from: Number(from) }),
    ...(to === undefined ? {} : { to: Number(to) }),
    ...(property.minLength === undefined ? {} : { short: Number(property.minLength) }),
    ...(property.maxLength === undefined ? {} : { long: Number(property.maxLength) }),
    ...(property.items ? { of: shapes.numberOf(shapeOf(property.items, shapes)) } : {}),
    ...(property.requires === undefined ? {} : { needs: property.requires }),
    ...whenOf(property, shapes),
  }
}

function whenOf(property: SchemaProperty, shapes: Shapes): Pick<WrittenShape, 'when'> {
  const by = property['type-property']
  if (by === undefined) return {}
  if (property.oneOf) {
    const cases = property.oneOf.map(
      (one) => [one['instance-types'] ?? [], shapes.numberOf(shapeOf(one, shapes))] as const,
    )
    return { when: { by, cases } }
  }
  return { when: { by, cases: [[property['instance-types'] ?? []]], ...(property.branch ? { branch: 1 } : {}) } }
}

function keysOf(format: Record<string, SchemaProperty>, shapes: Shapes): Record<string, number | string> {
  const keys: Record<string, number | string> = {}
  for (const [name, property] of Object.entries(format)) {
    if (property.alias !== undefined) {
      keys[name] = property.keyAlias === undefined ? property.alias : `${property.alias}<${property.keyAlias}`
      continue
    }
    const written = `${name}${property.optional ? '?' : ''}${property.default_key ? '=' : ''}`
    keys[written] = shapes.numberOf(shapeOf(property, shapes))
  }
  return keys
}

function namesOf(properties: Record<string, SchemaProperty>, shapes: Shapes): WrittenNames {
  const names: Record<string, number> = {}
  for (const name of Object.keys(properties).toSorted()) {
    const property = properties[name]
    if (!property) continue
    const base = name.replace(/\[n\]$/, '')
    const count = COUNTS[base]
    if (base !== name && count === undefined) throw new Error(`${name}: how many there are is not known`)
    const written = base === name ? name : `${base}[${count}]`
    names[`${written}${property.optional ? '?' : ''}`] = shapes.numberOf(shapeOf(property, shapes))
  }
  return names
}

/** Parameters that stand in branches, one branch for each type, become properties that go with that type. */
function propertiesOf(parameters: SchemaLine['parameters']): Record<string, SchemaProperty> {
  const properties: Record<string, SchemaProperty> = { ...parameters.properties }
  for (const part of parameters.allOf ?? []) {
    Object.assign(properties, part.properties)
    const by = part['type-property']
    if (by === undefined || !part.oneOf) continue
    properties[by] = part['type-property-schema'] ?? { type: 'string' }
    for (const branch of part.oneOf) {
      for (const [name, property] of Object.entries(branch.properties ?? {})) {
        const types = [...(properties[name]?.['instance-types'] ?? []), branch['instance-type'] ?? '']
        properties[name] = { ...property, 'type-property': by, 'instance-types': types, branch: true }
      }
    }
  }
  return properties
}

const LETTERS: Readonly<Record<string, string>> = {
  string: 's',
  integer: 'i',
  number: 'n',
  boolean: 'b',
  object: 'o',
  array: 'a',
  null: 'null',
  any: 'any',
}

/** `null`, `s`, `{name:s,vmid?:i}`, `[{…}]`. One level of names is enough to know what an answer looks like. */
function returnsOf(returns: SchemaProperty, depth = 0): string {
  const type = returns.type ?? (returns.properties ? 'object' : 'any')
  if (type === 'array' && depth === 0) return `[${returns.items ? returnsOf(returns.items, 1) : ''}]`
  if (type === 'object' && returns.properties && depth < 2) {
    const names = Object.entries(returns.properties).toSorted(([a], [b]) => (a < b ? -1 : 1))
    return `{${names.map(([name, one]) => `${name}${one.optional ? '?' : ''}:${returnsOf(one, 2)}`).join(',')}}`
  }
  return LETTERS[type] ?? 'any'
}

/** `perm /vms/{vmid} VM.Audit`, `(or (…) (…))`. `A+B` means all of them, `A|B` any. No permission at all means root. */
function permissionOf(permissions: SchemaLine['permissions']): string {
  if (permissions?.user !== undefined) return permissions.user
  if (permissions?.check) return checkOf(permissions.check)
  return 'root'
}

function checkOf(check: Check): string {
  const [kind, ...rest] = check
  if (kind === 'and' || kind === 'or') return `(${kind} ${(rest as Check[]).map(checkOf).join(' ')})`
  const options = new Map<string, string>()
  const first = kind === 'perm' ? 2 : 1
  for (let at = first; at < rest.length; at += 2) options.set(String(rest[at]), String(rest[at + 1]))
  if (kind === 'perm') {
    const privileges = (rest[1] as readonly string[]).join(options.has('any') ? '|' : '+')
    const only = options.get('require_param')
    return `(perm ${String(rest[0])} ${privileges}${only === undefined ? '' : ` if ${only}`})`
  }
  if (kind === 'userid-group') {
    const groups = options.get('groups_param')
    return `(userid-group ${(rest[0] as readonly string[]).join('|')}${groups === undefined ? '' : ` ${groups}`})`
  }
  return `(${String(kind)} ${String(rest[0])})`
}

function tableOf(lines: readonly SchemaLine[]): AreaTable {
  const shapes: Shapes = numbered()
  const returns = numbered<string>()
  const permissions = numbered<string>()
  const operations: Record<string, Record<string, WrittenOperation>> = {}
  for (const line of lines) {
    const properties = propertiesOf(line.parameters)
    const key = `${line.method} ${line.path}`
    if (key in DESCRIPTIONS) {
      const maxLength = DESCRIPTIONS[key]
      properties.description = { type: 'string', optional: 1, ...(maxLength === undefined ? {} : { maxLength }) }
    }
    const takes = namesOf(properties, shapes)
    operations[line.path] ??= {}
    const methods = operations[line.path] ?? {}
    methods[line.method] = {
      ...(Object.keys(takes).length > 0 ? { takes } : {}),
      ...(isOpen(line) ? { open: 1 } : {}),
      gives: returns.numberOf(returnsOf(line.returns)),
      may: permissions.numberOf(permissionOf(line.permissions)),
      ...(line.proxyto === undefined ? {} : { on: line.proxyto }),
      ...(line.protected ? { root: 1 } : {}),
      ...(line.allowtoken ? {} : { ticket: 1 }),
    }
  }
  return { version: VERSION, shapes: shapes.all, returns: returns.all, permissions: permissions.all, operations }
}

/** Without a word about other parameters they are let through: the daemon refuses only what is forbidden. */
function isOpen({ parameters: { additionalProperties, properties } }: SchemaLine): boolean {
  return additionalProperties === 1 || (additionalProperties === undefined && Object.keys(properties ?? {}).length > 0)
}

/** One path, one shape, one return a line: a new version of the API then reads as a difference. */
function written(table: AreaTable): string {
  const list = (values: readonly unknown[]) => `[\n${values.map((value) => JSON.stringify(value)).join(',\n')}\n]`
  const paths = Object.entries(table.operations).map(([path, methods]) => {
    const each = Object.entries(methods).map(([method, one]) => `${JSON.stringify(method)}:${JSON.stringify(one)}`)
    return `${JSON.stringify(path)}:{\n${each.join(',\n')}\n}`
  })
  return `{"version":${JSON.stringify(table.version)},\n"shapes":${list(table.shapes)},\n"returns":${list(
    table.returns,
  )},\n"permissions":${list(table.permissions)},\n"operations":{\n${paths.join(',\n')}\n}}\n`
}

const source = process.argv[2] ?? new URL('../test/evidence/proxmox/api-schema-9.2.jsonl.gz', import.meta.url)
const lines = gunzipSync(readFileSync(source))
  .toString('utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line): SchemaLine => JSON.parse(line))
  .toSorted((a, b) => (a.path === b.path ? (a.method < b.method ? -1 : 1) : a.path < b.path ? -1 : 1))

let total = 0
for (const area of AREAS) {
  const text = written(tableOf(lines.filter((line) => areaOf(line.path) === area)))
  total += text.length
  writeFileSync(new URL(`${area}.json`, FACTS), text)
  console.log(`${area}.json ${text.length} bytes`)
}
console.log(`${lines.length} operations, ${total} bytes`)

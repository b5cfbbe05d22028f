import type { FieldProblem } from '../kind.ts'

type AliasedFields = Record<string, unknown>

/** Names that people write for fields of the provider, as `block.alias` → real name. */
const BLOCK_ALIASES: Readonly<Record<string, string>> = { network: 'networkDevice', disks: 'disk' }
const DISK_ALIASES: Readonly<Record<string, string>> = { storage: 'datastoreId' }

/** Gives well-known wrong names their real ones, unless the real one is there too (then the schema complains). */
export function withoutAliases(value: unknown): unknown {
  if (!isFields(value)) return value
  const renamed = rename(value, BLOCK_ALIASES)
  const disk = renamed.disk
  const usual = (entry: unknown) => !isFields(entry) || !hasAny(entry, DISK_ALIASES)
  if (Array.isArray(disk) ? disk.every(usual) : usual(disk)) return renamed
  if (Array.isArray(disk)) renamed.disk = disk.map((entry) => (isFields(entry) ? rename(entry, DISK_ALIASES) : entry))
  else if (isFields(disk)) renamed.disk = rename(disk, DISK_ALIASES)
  return renamed
}

/** A warning for each alias that was read, which names the real field. Works on the text as written. */
export function aliasWarnings(value: unknown, base: readonly string[]): readonly FieldProblem[] {
  if (!isFields(value)) return []
  const problems: FieldProblem[] = []
  const warn = (path: readonly (string | number)[], alias: string, real: string) =>
    problems.push({
      code: 'alias',
      path: [...base, ...path],
      severity: 'warning',
      message: `${alias} is read as ${real}, which is the field's real name`,
      hint: `rename it to ${real}`,
    })
  for (const [alias, real] of Object.entries(BLOCK_ALIASES)) {
    if (value[alias] !== undefined) warn([alias], alias, real)
  }
  const diskName = value.disk === undefined ? 'disks' : 'disk'
  const disk = value[diskName]
  for (const [index, entry] of (Array.isArray(disk) ? disk : [disk]).entries()) {
    for (const [alias, real] of Object.entries(DISK_ALIASES)) {
      if (isFields(entry) && entry[alias] !== undefined) warn([diskName, index, alias], alias, real)
    }
  }
  const initialization = only(value.initialization)
  if (isFields(initialization) && initialization.type === 'cloud-init') {
    problems.push({
      code: 'alias',
      path: [...base, 'initialization', 'type'],
      severity: 'warning',
      message: 'initialization.type is the data format (nocloud, configdrive2); cloud-init is read as nocloud',
      hint: 'leave it out, or write nocloud',
    })
  }
  return problems
}

function hasAny(fields: AliasedFields, aliases: Readonly<Record<string, string>>): boolean {
  return Object.keys(aliases).some((alias) => alias in fields)
}

function rename(fields: AliasedFields, aliases: Readonly<Record<string, string>>): AliasedFields {
  if (!hasAny(fields, aliases)) return fields
  const result: AliasedFields = {}
  for (const [name, value] of Object.entries(fields)) {
    const real = Object.hasOwn(aliases, name) ? aliases[name] : undefined
    result[real === undefined || Object.hasOwn(fields, real) ? name : real] = value
  }
  return result
}

function only(value: unknown): unknown {
  return Array.isArray(value) && value.length === 1 ? value[0] : value
}

function isFields(value: unknown): value is AliasedFields {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

import { isFields } from '../../manifest.ts'
import type { Fields } from '../reading.ts'

/** Computed attributes of a whole resource, and those that only steer Terraform. */
const COMPUTED =
  /^(?:id|mac_addresses|ipv[46]|ipv[46]_addresses|network_interface_names|members|digest|timeout_.*|timeouts|reboot(?:_after_update)?|migrate|(?:stop|purge)_on_destroy|delete_unreferenced_disks_on_destroy|upload_timeout|overwrite(?:_unmanaged)?|clone)$/
/** Computed attributes inside a block, and secret ones at any depth. */
const COMPUTED_INSIDE = /^(?:path_in_datastore|wait_for_ip|timeout|pos|size_computed)$/
const SECRET = /^(?:password|private_key|value|.*_wo|.*_wo_version|eab_hmac_key|influx_token|opentelemetry_headers)$/

/** Attributes for which the provider writes 0 instead of null. */
const ZERO_IS_NONE =
  /^(?:mtu|queues|vlan_id|rate_limit|hotplugged|limit|shared|units|retries|max_bytes|period|(?:iops_)?(?:read|write)(?:_burstable)?)$/

/** Converts names like `network_device` to `networkDevice` at all depths; drops empty and computed fields. */
export function manifestFields(attributes: Readonly<Fields>, without?: RegExp): Fields {
  return renamed(
    Object.fromEntries(Object.entries(attributes).filter(([name]) => !COMPUTED.test(name) && !without?.test(name))),
  )
}

function renamed(attributes: Readonly<Fields>): Fields {
  const fields: Fields = {}
  for (const [name, value] of Object.entries(attributes)) {
    if (COMPUTED_INSIDE.test(name) || isSecret(name)) continue
    // Skip unset numbers: Terraform writes -1 for a delay, and 0 for many others.
    if (value === -1 || (value === 0 && ZERO_IS_NONE.test(name))) continue
    const inner = deep(value)
    if (!isEmpty(inner)) fields[camelCase(name)] = inner
  }
  return fields
}

/** croft never takes a secret out of a state. */
export function isSecret(name: string): boolean {
  return SECRET.test(name)
}

function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

function deep(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(deep)
  return isFields(value) ? renamed(value) : value
}

/** Reports whether an attribute is unset: Terraform writes all attributes. */
export function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  if (Array.isArray(value)) return value.length === 0
  return isFields(value) && Object.keys(value).length === 0
}

export function wordOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

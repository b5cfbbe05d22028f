import type { ObservedResource } from '../../../model/resource.ts'
import type { SettingSpec, SettingValue } from '../../../model/rest.ts'
import { ObservationFailed } from '../../port.ts'
import type { Api } from '../api.ts'
import { type ApiFields, isRecord, nameOf, recordsOf } from '../foreign.ts'
import { parseProperties } from '../property-string.ts'

/** A USB mapping's look stores connected devices under this name: `still-fawn 1-2` → `18d1:9302`. */
const PORTS = 'ports'

/** Adds the devices at mapped ports. One call per host; a device may change its id while it works. */
export async function withPorts(
  api: Api,
  seen: readonly ObservedResource[],
  signal: AbortSignal,
): Promise<readonly ObservedResource[]> {
  const hosts = new Set(
    seen.flatMap((one) => entriesOf(one.close?.config ?? {}).flatMap(({ path, node }) => (path && node ? [node] : []))),
  )
  const ports: Record<string, string> = {}
  await Promise.all(
    [...hosts].map(async (host) => {
      try {
        const path = `/nodes/${encodeURIComponent(host)}/hardware/usb`
        const data = await api.read(path, { doing: `list what is plugged into ${host}`, host }, signal)
        for (const row of recordsOf(data)) {
          const id = [row.vendid, row.prodid].map((part) => String(part).replace(/^0x/, '').padStart(4, '0')).join(':')
          const [bus, path] = [nameOf(row.busnum), nameOf(row.usbpath)]
          if (bus !== undefined && path !== undefined) ports[`${host} ${bus}-${path}`] = id
        }
      } catch (error) {
        // Without permission to read it, all ids are equally right.
        if (!(error instanceof ObservationFailed) || error.refusal.connectionWide) throw error
      }
    }),
  )
  if (Object.keys(ports).length === 0) return seen
  return seen.map((one) =>
    one.close === undefined
      ? one
      : { ...one, close: { ...one.close, config: { ...one.close.config, [PORTS]: ports } } },
  )
}

/** Of equally right values, returns the one of the connected device: with another the guest would not start. */
export function presentValue(setting: SettingSpec, name: string, config: ApiFields): SettingValue | undefined {
  const ports = isRecord(config[PORTS]) ? config[PORTS] : undefined
  const others = setting.accepts?.[name]
  if (ports === undefined || others === undefined) return undefined
  return [setting.fields[name], ...others].find(
    (value) =>
      Array.isArray(value) &&
      value.length > 0 &&
      value.every((entry) => isRecord(entry) && ports[`${String(entry.host)} ${String(entry.path)}`] === entry.id),
  )
}

export function withPresent(setting: SettingSpec, config: ApiFields): SettingSpec {
  const fields = { ...setting.fields }
  for (const name of Object.keys(setting.accepts ?? {})) {
    const present = presentValue(setting, name, config)
    if (present !== undefined) fields[name] = present
  }
  return { ...setting, fields }
}

function entriesOf(
  config: ApiFields,
): readonly { readonly node?: string | undefined; readonly path?: string | undefined }[] {
  const map = Array.isArray(config.map) ? config.map : []
  return map.map((entry) => {
    const properties = parseProperties(String(entry), '')
    return { node: properties.get('node'), path: properties.get('path') }
  })
}

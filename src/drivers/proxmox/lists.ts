import { defined } from '../../lib/defined.ts'
import type { ObservedResource } from '../../model/resource.ts'
import type { Api } from './api.ts'
import { parseDiskList, parseFileList } from './file-list.ts'
import { countOf, nameOf, recordsOf } from './foreign.ts'
import { isSettingList } from './rest/paths.ts'
import { readSettings } from './rest/read-settings.ts'
import { storagePath } from './steps.ts'

const FILE_CONTENT = new Set(['iso', 'vztmpl', 'import', 'snippets'])

/** Reads what a survey does not show: settings, a storage's files, an id's disks. */
export async function readList(
  api: Api,
  connection: string,
  list: string,
  atMs: number,
  signal: AbortSignal,
): Promise<readonly ObservedResource[]> {
  if (isSettingList(list)) return readSettings(api, connection, list, atMs, signal)
  const disks = parseDiskList(list)
  if (disks !== undefined) return readDisks(api, connection, list, disks, atMs, signal)
  const { host, storage } = parseFileList(list)
  const about = { doing: `list the files on ${storage} of ${host}`, host }
  const data = await api.read(`${storagePath(host, storage)}/content`, about, signal)
  return recordsOf(data).flatMap((entry): ObservedResource[] => {
    const externalId = nameOf(entry.volid)
    if (externalId === undefined || typeof entry.content !== 'string' || !FILE_CONTENT.has(entry.content)) return []
    const size = countOf(entry.size)
    const ctime = entry.content === 'snippets' ? countOf(entry.ctime) : undefined
    const config = {
      content: entry.content,
      ...defined({ size, ctime }),
    }
    return [{ connection, type: 'file', list, externalId, host, close: { config, atMs } }]
  })
}

/** Reads the disks of one id on a storage, and no others: they are candidates for deletion. */
async function readDisks(
  api: Api,
  connection: string,
  list: string,
  {
    host,
    storage,
    externalId: owner,
  }: { readonly host: string; readonly storage: string; readonly externalId: string },
  atMs: number,
  signal: AbortSignal,
): Promise<readonly ObservedResource[]> {
  const about = { doing: `list the disks of id ${owner} on ${storage} of ${host}`, host }
  const data = await api.read(`${storagePath(host, storage)}/content?vmid=${encodeURIComponent(owner)}`, about, signal)
  return recordsOf(data).flatMap((entry): ObservedResource[] => {
    const externalId = nameOf(entry.volid)
    const ctime = countOf(entry.ctime)
    const disk = entry.content === 'images' || entry.content === 'rootdir'
    if (externalId === undefined || ctime === undefined || !disk || String(entry.vmid) !== owner) return []
    return [{ connection, type: 'file', list, externalId, host, close: { config: { ctime }, atMs } }]
  })
}

export async function observeListed(
  api: Api,
  observed: ObservedResource,
  list: string,
  atMs: number,
  signal: AbortSignal,
): Promise<ObservedResource | undefined> {
  const things = await readList(api, observed.connection, list, atMs, signal)
  return things.find((thing) => thing.externalId === observed.externalId)
}

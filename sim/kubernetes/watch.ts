import type { ApiCall, Watching } from './call.ts'
import { chosen, shown } from './listing.ts'
import type { KubeObject } from './object.ts'
import { ApiStatus } from './status.ts'
import { all, type Change } from './store.ts'
import { asTable, wantsTable } from './table.ts'

const BOOKMARK_MS = 60_000

export function startWatch(call: ApiCall): Watching {
  const { cluster, process, query, resource } = call
  const { store } = cluster
  const from = query.get('resourceVersion') ?? ''
  const since = Number(from === '' ? 0 : from)
  if (since !== 0 && since < store.compacted)
    throw new ApiStatus(410, 'Expired', `too old resource version: ${since} (${store.compacted + 1})`)
  const wanted = chosen(call)
  const table = wantsTable(call.request)
  let first = true
  const told = (type: string, object: unknown) => {
    const shownObject =
      table && type !== 'BOOKMARK' ? asTable(resource, object, process.computer.world.clock.now(), first) : object
    first = false
    return `${JSON.stringify({ type, object: shownObject })}\n`
  }
  return {
    timeoutMs: 1000 * Number(query.get('timeoutSeconds') ?? 1800),
    start(line, ended) {
      const { clock } = process.computer.world
      const bookmark = () =>
        line(
          told('BOOKMARK', {
            kind: resource.kind,
            apiVersion: resource.group === '' ? resource.version : `${resource.group}/${resource.version}`,
            metadata: { resourceVersion: `${store.revision}` },
          }),
        )
      const tell = (change: Change) => {
        if (change.resource !== resource.key) return
        const type = typeFor(change, wanted)
        if (type !== undefined) line(told(type, shown(call, change.object)))
      }
      if (since === 0)
        for (const object of all(store, resource.key).filter(wanted)) line(told('ADDED', shown(call, object)))
      else for (const change of store.changes) if (change.revision > since) tell(change)
      if (query.get('sendInitialEvents') === 'true')
        line(
          told('BOOKMARK', {
            kind: resource.kind,
            apiVersion: resource.group === '' ? resource.version : `${resource.group}/${resource.version}`,
            metadata: { resourceVersion: `${store.revision}`, annotations: { 'k8s.io/initial-events-end': 'true' } },
          }),
        )
      store.listeners.add(tell)
      let timer = clock.schedule(clock.now() + BOOKMARK_MS, mark)
      let open = true
      function mark(): void {
        if (!open) return
        if (!process.alive) {
          stop()
          ended()
          return
        }
        if (/^(true|1)$/.test(query.get('allowWatchBookmarks') ?? '')) bookmark()
        timer = clock.schedule(clock.now() + BOOKMARK_MS, mark)
      }
      function stop(): void {
        open = false
        timer.cancel()
        store.listeners.delete(tell)
      }
      return stop
    },
  }
}

/** Returns the type of a change for a filtered watch: an object that no longer matches is DELETED. */
function typeFor(change: Change, wanted: (object: KubeObject) => boolean): string | undefined {
  const now = change.type !== 'DELETED' && wanted(change.object)
  const before = change.before !== undefined && wanted(change.before)
  if (change.type === 'DELETED') return before || wanted(change.object) ? 'DELETED' : undefined
  if (now) return before ? 'MODIFIED' : 'ADDED'
  return before ? 'DELETED' : undefined
}

import { answers } from '../../../world/reachable.ts'
import { failed } from '../../api-error.ts'
import type { Call, Routes } from '../../call.ts'
import { splitList } from '../../validate/formats/format.ts'
import { type Collection, collectionRoutes, STALE } from '../collection.ts'
import { fields, type Thing, textOf } from '../shelf.ts'

/** Servers that the status daemon sends its numbers to. */
const SERVERS: Collection = {
  at: '/cluster/metrics/server',
  key: 'id',
  madeInPlace: true,
  shelf: 'metrics',
  exists: (id) => failed(`Metric server '${id}' already exists`),
  missing: (id, verb) =>
    failed(
      {
        read: `status server entry '${id}' does not exist`,
        update: `no such server '${id}'`,
        delete: 'cannot lookup undefined type! at /usr/share/perl5/PVE/API2/Cluster/MetricServer.pm line 295.',
      }[verb],
    ),
  stale: failed(STALE),
  sections: '',
  prepare: (call, thing, _, old) => {
    const kept = old === undefined ? thing : { ...thing, type: old.type }
    const known = OPTIONS[textOf(kept.type)]?.split(' ') ?? []
    const foreign = Object.keys(fields(call, 'id')).find((name) => name !== 'type' && !known.includes(name))
    if (foreign !== undefined) throw failed(`unexpected property '${foreign}'`)
    connect(call, kept)
    return kept
  },
  // The secret is kept apart and not shown.
  row: (_, { token: __, ...thing }) => thing,
  one: (_, thing) => thing,
  listed: (_, thing, id) => ({
    id,
    type: thing.type,
    server: thing.server,
    port: thing.port,
    disable: thing.disable ?? 0,
  }),
}

/** What each kind of server can be told. */
const OPTIONS: Readonly<Record<string, string>> = {
  graphite: 'server port mtu proto timeout path disable',
  influxdb:
    'server port mtu disable organization bucket token influxdbproto timeout max-body-size api-path-prefix verify-certificate',
  opentelemetry:
    'server port disable otel-protocol otel-path otel-timeout otel-headers otel-verify-ssl otel-max-body-size otel-resource-attributes otel-compression',
}

export const metricsRoutes: Routes = {
  ...collectionRoutes(SERVERS),
  'GET /cluster/metrics': () => [{ name: 'server' }],
  'GET /cluster/metrics/export': (call) => {
    const asked = splitList(call.params['node-list'] ?? '')
    const unknown = asked.filter((name) => !call.world.hosts.has(name))
    if (unknown.length > 0) throw failed(`Requested node-list contains unknown nodes - ${unknown.join(', ')}`)
    return { data: [] }
  },
}

/** A server is tried out before it is written down, unless it is switched off; one kind is tried in any case. */
function connect(call: Call, thing: Thing): void {
  const host = String(thing.server)
  const port = Number(thing.port)
  if (answers(call.world, host, port)) return
  const refused = `500 Can't connect to ${host}:${port} (Connection refused)`
  if (thing.type === 'opentelemetry') throw failed(`Connection test failed: ${refused}`)
  if (thing.disable === 1 || fields(call).disable === 1) return
  if (thing.type === 'graphite' && thing.proto === 'tcp') {
    throw failed(`couldn't create carbon socket [${host}]:${port} - Connection refused`)
  }
  if (thing.type === 'influxdb' && /^https?$/.test(String(thing.influxdbproto))) throw failed(refused)
}

import { answers } from '../../../world/reachable.ts'
import { failed } from '../../api-error.ts'
import { type Call, param, type Routes } from '../../call.ts'
import { type Collection, collectionRoutes, deletions, list, STALE, things } from '../collection.ts'
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
  refuseNew: (call, id) => {
    if (!things(SERVERS, call).has(id)) refuseForeign(call, param(call, 'type'))
  },
  beforeDeletions: (call) => {
    const type = textOf(things(SERVERS, call).get(param(call, 'id'))?.type)
    refuseForeign(call, type)
    const unknown = deletions(call).find((name) => name !== 'token' && !optionsOf(type).includes(name))
    if (unknown !== undefined) throw failed(`no such option '${unknown}'`)
  },
  prepare: (call, thing, _, old) => {
    const kept = old === undefined ? thing : { ...thing, type: old.type }
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

const optionsOf = (type: string) => OPTIONS[type]?.split(' ') ?? []

function refuseForeign(call: Call, type: string): void {
  const foreign = Object.keys(fields(call, 'id', 'type')).find((name) => !optionsOf(type).includes(name))
  if (foreign !== undefined) throw failed(`unexpected property '${foreign}'`)
}

export const metricsRoutes: Routes = {
  ...collectionRoutes(SERVERS),
  'GET /cluster/metrics/server': (call) => list(SERVERS, call).sort((a, b) => (textOf(a.id) < textOf(b.id) ? -1 : 1)),
  'GET /cluster/metrics': () => [{ name: 'server' }],
}

/** A server is tried out before it is written down, unless it is switched off; one kind is tried in any case. */
function connect(call: Call, thing: Thing): void {
  const host = String(thing.server)
  const port = Number(thing.port)
  if (answers(call.world, host, port)) return
  const refused = `500 Can't connect to ${host}:${port} (Connection refused)`
  if (thing.type === 'opentelemetry')
    throw failed(`Connection test failed: ${refused} at /usr/share/perl5/PVE/Status/OpenTelemetry.pm line 707.`)
  if (thing.disable === 1 || fields(call).disable === 1) return
  if (thing.type === 'graphite' && thing.proto === 'tcp') {
    throw failed(`couldn't create carbon socket [${host}]:${port} - Connection refused`)
  }
  if (thing.type === 'influxdb' && /^https?$/.test(String(thing.influxdbproto))) throw failed(refused)
}

import type { WireRequest, WireResponse } from '../../src/lib/wire.ts'
import { isWritable } from '../k3s/etcd.ts'
import type { EtcdCluster, K3sProcess } from '../world/types.ts'
import { authenticate } from './access.ts'
import type { ApiAnswer, ApiCall, Caller, Peer } from './call.ts'
import { resourceAt } from './catalogue.ts'
import { deleteCollection, deleteObject } from './deletes.ts'
import { aggregated, groupList, oneGroup, resourceList } from './discovery.ts'
import { evict } from './eviction.ts'
import { listObjects } from './listing.ts'
import { openApi, openApiV2 } from './open-api.ts'
import { podLog } from './pod-log.ts'
import { probe, supervise } from './probes.ts'
import { review } from './reviews.ts'
import { ApiStatus, frontStatus, json, NO_RESOURCE, statusBody } from './status.ts'
import { asTable, wantsTable } from './table.ts'
import { startWatch } from './watch.ts'
import { createObject, patchObject, readObject, updateObject } from './writes.ts'

/** A call to a server waits this long for etcd before it is told that it took too long. */
const REQUEST_TIMEOUT_MS = 60_000

/** One call to port 6443 of a server. Undefined: no answer ever comes on this connection. */
export async function callServer(
  process: K3sProcess,
  request: WireRequest,
  peer: Peer,
): Promise<ApiAnswer | undefined> {
  const url = new URL(request.path, 'https://server')
  const own = supervise(process, url, request)
  if (own !== undefined) return { response: own }
  if (process.phase === 'supervisor' || process.phase === 'waiting')
    return {
      response: frontStatus(503, 'ServiceUnavailable', inFirstMoments(process) ? 'starting' : 'apiserver not ready'),
    }
  const { cluster } = process
  if (cluster === undefined || process.phase === 'removed') return undefined
  const caller = authenticate(process, request, peer)
  if (caller === undefined) {
    const refused = new ApiStatus(401, 'Unauthorized', 'Unauthorized')
    return { response: json(401, statusBody(refused)) }
  }
  const probed = probe(process, cluster, url)
  if (probed !== undefined) return { response: probed }
  try {
    return await answer(process, cluster, request, url, caller)
  } catch (error) {
    if (error instanceof ApiStatus) return { response: json(error.code, statusBody(error)) }
    const broken = new ApiStatus(
      500,
      'InternalError',
      `Internal error occurred: ${error instanceof Error ? error.message : ''}`,
    )
    return { response: json(500, statusBody(broken)) }
  }
}

function inFirstMoments(process: K3sProcess): boolean {
  return process.computer.world.clock.now() - process.startedMs < 700
}

async function answer(
  process: K3sProcess,
  cluster: EtcdCluster,
  request: WireRequest,
  url: URL,
  caller: Caller,
): Promise<ApiAnswer | undefined> {
  const general = generalPath(process, cluster, request, url)
  if (general !== undefined) return { response: general }
  const place = placeOf(cluster, url)
  if (place === undefined) throw NO_RESOURCE
  if (caller.groups.every((group) => group !== 'system:masters')) throw forbidden(caller, request.method, place)
  const reviewed = review(request, place, caller)
  if (reviewed !== undefined) return { response: reviewed }
  const waited = await etcdAnswers(process, cluster)
  if (waited === 'gone') return undefined
  if (waited === 'late')
    throw new ApiStatus(504, 'Timeout', 'Timeout: request did not complete within the allotted timeout')
  const call: ApiCall = { process, cluster, request, query: url.searchParams, caller, ...place }
  return serve(call)
}

/** Object calls hang while etcd has no majority: reads too, for they are answered from a majority. */
function etcdAnswers(process: K3sProcess, cluster: EtcdCluster): Promise<'yes' | 'late' | 'gone'> | 'yes' {
  if (isWritable(cluster)) return 'yes'
  const { clock } = process.computer.world
  return new Promise((resolve) => {
    const settle = (how: 'yes' | 'late' | 'gone') => {
      stop()
      timer.cancel()
      process.ends.delete(gone)
      resolve(how)
    }
    const gone = () => settle('gone')
    process.ends.add(gone)
    const timer = clock.schedule(clock.now() + REQUEST_TIMEOUT_MS, () => settle('late'))
    const go = () => settle('yes')
    cluster.waiting.add(go)
    const stop = () => cluster.waiting.delete(go)
  })
}

function generalPath(
  process: K3sProcess,
  cluster: EtcdCluster,
  request: WireRequest,
  url: URL,
): WireResponse | undefined {
  const { store } = cluster
  const path = url.pathname.replace(/\/$/, '') || '/'
  const tell = (value: unknown) => json(200, `${JSON.stringify(value)}\n`)
  const newer = /apidiscovery\.k8s\.io/.test(request.headers.accept ?? request.headers.Accept ?? '')
  if (newer && (path === '/api' || path === '/apis')) {
    const type = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
    return json(200, `${JSON.stringify(aggregated(store, path === '/api'))}\n`, type)
  }
  if (path === '/api') {
    const serverAddress = `${process.nodeIps[0]}:6443`
    return tell({
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
    })
  }
  if (path === '/apis') return tell(groupList(store))
  if (path === '/version') return tell(versionOf(process))
  if (path === '/openapi/v2') return openApiV2()
  if (path.startsWith('/openapi/v3')) return openApi(store, path)
  if (path.startsWith('/apis/metrics.k8s.io')) return json(503, 'service unavailable\n', 'text/plain; charset=utf-8')
  const [, group = '', version = ''] = /^\/apis\/([^/]+)(?:\/([^/]+))?$/.exec(path) ?? []
  if (path === '/api/v1') return tell(resourceList(store, '', 'v1'))
  if (group === '') return undefined
  const found = version === '' ? oneGroup(store, group) : resourceList(store, group, version)
  return found === undefined ? json(404, '404 page not found\n', 'text/plain; charset=utf-8') : tell(found)
}

function versionOf({ version }: K3sProcess): Record<string, unknown> {
  const [, major = '1', minor = ''] = /^v(\d+)\.(\d+)/.exec(version) ?? []
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: `${Number(minor) - 1}`,
    gitVersion: version,
    gitCommit: '0000000000000000000000000000000000000000',
    gitTreeState: 'clean',
    buildDate: '2026-01-01T00:00:00Z',
    goVersion: 'go1.26.0',
    compiler: 'gc',
    platform: 'linux/amd64',
  }
}

type Place = Pick<ApiCall, 'resource' | 'namespace' | 'name' | 'sub'>

function placeOf(cluster: EtcdCluster, url: URL): Place | undefined {
  const parts = url.pathname
    .split('/')
    .filter((part) => part !== '')
    .map(decodeURIComponent)
  const core = parts[0] === 'api'
  if (!core && parts[0] !== 'apis') return undefined
  const [group = '', version = ''] = core ? ['', parts[1]] : [parts[1], parts[2]]
  let rest = parts.slice(core ? 2 : 3)
  let namespace: string | undefined
  // The parts of a namespace itself (`status`, `finalize`) are not resources in it.
  if (rest[0] === 'namespaces' && rest.length > 2 && !/^(status|finalize)$/.test(rest[2] ?? '')) {
    namespace = rest[1]
    rest = rest.slice(2)
  }
  const [plural = '', name, sub] = rest
  const resource = resourceAt(cluster.store, group, version, plural)
  if (resource === undefined || (namespace !== undefined && !resource.namespaced)) return undefined
  return { resource, namespace, name, sub }
}

function forbidden(caller: Caller, method: string, { resource, name }: Place): ApiStatus {
  const verb =
    { GET: name === undefined ? 'list' : 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }[
      method
    ] ?? 'get'
  const which = resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`
  const what = name === undefined ? which : `${which} "${name}"`
  return new ApiStatus(
    403,
    'Forbidden',
    `${what} is forbidden: User "${caller.user}" cannot ${verb} resource "${resource.plural}" in API group "${resource.group}" at the cluster scope`,
    { kind: resource.plural, ...(name === undefined ? {} : { name }) },
  )
}

const NOBODY_INSIDE = 'no program runs inside the pods of a simulated cluster'

/** What the server of a real cluster passes on to others that are not here. */
const NOT_SIMULATED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['exec', 'attach', 'portforward', 'proxy'].map((sub) => [`/pods/${sub}`, NOBODY_INSIDE])),
  '/serviceaccounts/token': 'nobody signs tokens for service accounts',
}

function serve(call: ApiCall): ApiAnswer {
  const { method } = call.request
  const { name, query, resource, sub } = call
  if (sub === 'eviction' && method === 'POST') return { response: evict(call) }
  if (sub === 'log' && method === 'GET' && resource.key === '/pods') return podLog(call)
  const lack = sub === undefined ? undefined : NOT_SIMULATED[`${resource.key}/${sub}`]
  if (lack !== undefined) {
    readObject({ ...call, sub: undefined })
    throw new ApiStatus(501, 'NotImplemented', `${sub} is not simulated: ${lack}`, {})
  }
  if (sub !== undefined && !resource.subresources.includes(sub)) throw NO_RESOURCE
  if (method === 'GET' && name === undefined) {
    if (/^(true|1)$/.test(query.get('watch') ?? '')) return { watch: startWatch(call) }
    const objects = listObjects(call)
    return { response: table(call, objects) }
  }
  switch (method) {
    case 'GET':
      return { response: table(call, readObject(call)) }
    case 'POST':
      if (name !== undefined && sub === undefined) break
      return { response: table(call, createObject(call), 201) }
    case 'PUT': {
      const { object, created } = updateObject(call)
      return { response: table(call, object, created ? 201 : 200) }
    }
    case 'PATCH': {
      const { object, created } = patchObject(call)
      return { response: table(call, object, created ? 201 : 200) }
    }
    case 'DELETE':
      return {
        response: json(200, `${JSON.stringify(name === undefined ? deleteCollection(call) : deleteObject(call))}\n`),
      }
  }
  throw new ApiStatus(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {})
}

function table(call: ApiCall, value: unknown, status = 200): WireResponse {
  const shown = wantsTable(call.request)
    ? asTable(call.resource, value, call.process.computer.world.clock.now())
    : value
  return json(status, `${JSON.stringify(shown)}\n`)
}

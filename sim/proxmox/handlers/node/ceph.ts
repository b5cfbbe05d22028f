import { failed } from '../../api-error.ts'
import type { Routes } from '../../call.ts'

const NODE = '/nodes/{node}/ceph'
const CLUSTER = '/cluster/ceph'

/** What each folder of the API lists. */
const INDEXES: Readonly<Record<string, readonly string[]>> = {
  [CLUSTER]: ['flags', 'metadata', 'restart-bulk', 'status'],
  [NODE]: [
    'cmd-safety',
    'cfg',
    'crush',
    'fs',
    'init',
    'log',
    'mds',
    'mgr',
    'mon',
    'osd',
    'pool',
    'releases',
    'restart',
    'restart-bulk',
    'rules',
    'start',
    'status',
    'stop',
  ],
  [`${NODE}/cfg`]: ['raw', 'db', 'value'],
  [`${NODE}/osd/{osdid}`]: ['metadata', 'lv-info'],
  [`${NODE}/pool/{name}`]: ['status'],
}

/** What looks for the programs of Ceph before it does anything. */
const ASKED: readonly string[] = [
  ...['status', 'metadata', 'flags', 'flags/{flag}'].map((name) => `GET ${CLUSTER}/${name}`),
  ...['flags', 'flags/{flag}'].map((name) => `PUT ${CLUSTER}/${name}`),
  `POST ${CLUSTER}/restart-bulk`,
  ...['cfg/raw', 'cfg/db', 'cfg/value', 'cmd-safety', 'crush', 'fs', 'log', 'mds', 'mgr', 'mon', 'osd', 'pool'].map(
    (name) => `GET ${NODE}/${name}`,
  ),
  ...['rules', 'status', 'osd/{osdid}/lv-info', 'osd/{osdid}/metadata', 'pool/{name}/status'].map(
    (name) => `GET ${NODE}/${name}`,
  ),
  ...['fs/{name}', 'mon/{monid}', 'osd', 'osd/{osdid}/in', 'osd/{osdid}/out', 'osd/{osdid}/scrub', 'pool'].map(
    (name) => `POST ${NODE}/${name}`,
  ),
  ...['restart', 'restart-bulk', 'start', 'stop'].map((name) => `POST ${NODE}/${name}`),
  `PUT ${NODE}/pool/{name}`,
  ...['fs/{name}', 'mds/{name}', 'mgr/{id}', 'mon/{monid}', 'osd/{osdid}', 'pool/{name}'].map(
    (name) => `DELETE ${NODE}/${name}`,
  ),
]

const RELEASES = { octopus: '15.2', pacific: '16.2', quincy: '17.2', reef: '18.2', squid: '19.2', tentacle: '20.2' }
/** Those of them that there are packages of for Proxmox VE 9. */
const INSTALLABLE: readonly string[] = ['squid', 'tentacle']
const DEFAULT_RELEASE = 'tentacle'

/** A site without Ceph, as a host is installed: its calls are there, and say what is missing. */
export const cephRoutes: Routes = {
  ...Object.fromEntries(
    Object.entries(INDEXES).map(([path, names]) => [`GET ${path}`, () => names.map((name) => ({ name }))]),
  ),
  ...Object.fromEntries(ASKED.map((operation) => [operation, () => notInstalled('ceph-mon')])),
  [`POST ${NODE}/mgr/{id}`]: () => notInstalled('ceph-mgr'),
  [`POST ${NODE}/mds/{name}`]: () => notInstalled('ceph-mds'),
  [`GET ${NODE}/releases`]: () =>
    Object.entries(RELEASES).map(([release, version]) => ({
      release,
      version,
      available: INSTALLABLE.includes(release) ? 1 : 0,
      'is-default': release === DEFAULT_RELEASE ? 1 : 0,
      unsupported: 0,
    })),
  [`POST ${NODE}/init`]: () => {
    throw failed("Ceph Nautilus required - please run 'pveceph install'")
  },
}

function notInstalled(program: string): never {
  throw failed(`binary not installed: /usr/bin/${program}`)
}

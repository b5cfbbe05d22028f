import { failed } from '../api-error.ts'
import { type Call, hostOf, param, type Routes } from '../call.ts'

const AT = '/nodes/{node}/disks'

/**
 * Disks of a host that something is made of. A simulated host shows none in its list, so whatever is named is no disk:
 * what people say wrongly is answered as by the real host, and nothing is ever made.
 */
export const nodeDiskRoutes: Routes = {
  [`GET ${AT}/smart`]: (call) => noDisk(call, 'disk'),
  [`POST ${AT}/initgpt`]: (call) => noDisk(call, 'disk'),
  [`PUT ${AT}/wipedisk`]: (call) => noDisk(call, 'disk'),
  ...Object.fromEntries(
    ['lvm', 'lvmthin', 'directory'].map((kind) => [`POST ${AT}/${kind}`, (call: Call) => noDisk(call, 'device')]),
  ),
  'GET /nodes/{node}/scan/lvmthin': () => [],
}

function noDisk(call: Call, name: string): never {
  hostOf(call)
  const path = param(call, name)
  if (!path.startsWith('/dev/')) throw failed(`got unusual device path '${path}'`)
  throw failed('not a valid block device')
}

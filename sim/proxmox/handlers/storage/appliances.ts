import { createHash } from 'node:crypto'
import { MIB } from '../../../world/sizes.ts'
import { startTask } from '../../../world/tasks.ts'
import type { World } from '../../../world/types.ts'
import { addVolume, filePath, volumesOf } from '../../../world/volumes.ts'
import { badParameter, failed } from '../../api-error.ts'
import { type Call, hostOf, param, type Routes } from '../../call.ts'
import type { Thing } from '../shelf.ts'
import { needStorage } from './storage.ts'

const PLACE = 'http://download.proxmox.com/images/system'

/** Templates of containers that are offered: system, version, and how the file is packed. */
const OFFERED = [
  'alpine-3.22-default 20250617 xz alpine',
  'archlinux-base 20240911-1 zst archlinux',
  'debian-12-standard 12.12-1 zst debian-12',
  'debian-13-standard 13.1-2 zst debian-13',
  'fedora-42-default 20250428 xz fedora-42',
  'rockylinux-9-default 20240912 xz rockylinux-9',
  'ubuntu-24.04-standard 24.04-2 zst ubuntu-24.04',
].map((line): Thing => {
  const [name = '', version = '', packing = '', os = ''] = line.split(' ')
  const template = `${name}_${version}_amd64.tar.${packing}`
  const location = `${PLACE}/${template}`
  return {
    template,
    package: name,
    version,
    os,
    type: 'lxc',
    section: 'system',
    architecture: 'amd64',
    headline: name,
    description: name,
    infopage: 'https://pve.proxmox.com/wiki/Linux_Container',
    maintainer: 'Proxmox Support Team <support@proxmox.com>',
    source: 'https://releases.proxmox.com',
    location,
    sha512sum: createHash('sha512').update(location).digest('hex'),
  }
})

/** The list is fetched by a daemon, once a day: a host without its daemons has none. */
function offeredIn(world: World): readonly Thing[] {
  return world.statusDaemon ? OFFERED : []
}

export const applianceRoutes: Routes = {
  'GET /nodes/{node}/aplinfo': ({ world }) => offeredIn(world),
  'POST /nodes/{node}/aplinfo': fetchTemplate,
}

function fetchTemplate(call: Call): string {
  const { world } = call
  const host = hostOf(call)
  const template = param(call, 'template')
  const found = offeredIn(world).find((one) => one.template === template)
  if (found === undefined) throw badParameter('template', 'no such template')
  const entry = needStorage(call)
  if (!entry.content.includes('vztmpl')) throw failed(`storage '${entry.id}' does not support templates`)
  const name = `vztmpl/${template}`
  const path = filePath(entry, name)
  return startTask(world, host, 'download', template, call.who.id, async (work) => {
    work.log(`downloading ${String(found.location)} to ${path}`)
    // One that is there already is compared by its sum.
    if (volumesOf(host, entry.id).has(name)) {
      work.log('OK, got correct file already, no need to download')
      return
    }
    await work.pass(world.timing.shortTaskMs)
    addVolume(world, host, entry, {
      name,
      content: 'vztmpl',
      format: `t${template.replace(/^.*\./, '')}`,
      sizeBytes: 120 * MIB,
      ctimeSeconds: Math.floor(world.clock.now() / 1000),
    })
    work.log(`download of '${String(found.location)}' to '${path}' finished`)
  })
}

import { failed } from '../api-error.ts'
import { type Call, hostOf, param, type Routes } from '../call.ts'
import { digestOf, shelf, type Thing } from './shelf.ts'

const AT = '/nodes/{node}/apt'

/** Where a host takes its programs from. Repositories stand in files and are spoken of by file and number. */
export const nodeAptRoutes: Routes = {
  [`GET ${AT}`]: () => ['changelog', 'repositories', 'update', 'versions'].map((id) => ({ id })),
  [`GET ${AT}/update`]: () => [],
  [`GET ${AT}/versions`]: () => [],
  [`GET ${AT}/repositories`]: (call) => {
    const files = filesOf(call)
    return {
      files: files.map(({ path, repositories }) => ({ path, 'file-type': 'sources', digest: [], repositories })),
      errors: [],
      infos: [],
      'standard-repos': STANDARD.map(({ handle, name, component }) => {
        const found = files
          .flatMap(({ repositories }) => repositories)
          .find(({ Components }) => Array.isArray(Components) && Components.includes(component))
        return { handle, name, description: name, ...(found === undefined ? {} : { status: found.Enabled }) }
      }),
      digest: digestOf(files),
    }
  },
  [`POST ${AT}/repositories`]: (call) => {
    const file = filesOf(call).find(({ path }) => path === param(call, 'path'))
    const repository = file?.repositories[Number(param(call, 'index'))]
    if (file === undefined) throw failed('invalid path - no such file')
    if (repository === undefined) throw failed('invalid index - no such repository')
    refuse(call)
    if (call.params.enabled !== undefined) repository.Enabled = Number(call.params.enabled)
    return null
  },
  [`PUT ${AT}/repositories`]: (call) => {
    const wanted = STANDARD.find(({ handle }) => handle === param(call, 'handle'))
    if (wanted === undefined) throw failed(`unknown repository handle '${param(call, 'handle')}'`)
    refuse(call)
    const files = filesOf(call)
    const known = files.some(({ repositories }) =>
      repositories.some(({ Components }) => Array.isArray(Components) && Components.includes(wanted.component)),
    )
    const there = files.find(({ path }) => path === wanted.file)
    if (!known && there !== undefined) there.repositories.push(repositoryOf(wanted.component))
    else if (!known)
      files.push({
        path: wanted.file,
        repositories: [repositoryOf(wanted.component)],
      })
    return null
  },
}

const SOURCES = '/etc/apt/sources.list.d'

const STANDARD = [
  { handle: 'enterprise', name: 'Enterprise', component: 'pve-enterprise', file: `${SOURCES}/pve-enterprise.sources` },
  {
    handle: 'no-subscription',
    name: 'No-Subscription',
    component: 'pve-no-subscription',
    file: `${SOURCES}/proxmox.sources`,
  },
  { handle: 'test', name: 'Test', component: 'pve-test', file: `${SOURCES}/proxmox.sources` },
]

interface File {
  readonly path: string
  readonly repositories: Thing[]
}

function filesOf(call: Call): File[] {
  const things = shelf(call.world, `node/${hostOf(call).name}`)
  let kept = things.get('apt')
  if (kept === undefined) {
    const debian = { ...repositoryOf('main'), URIs: ['http://deb.debian.org/debian'], Suites: ['trixie'] }
    kept = {
      files: [
        { path: '/etc/apt/sources.list.d/debian.sources', repositories: [debian] },
        { path: '/etc/apt/sources.list.d/pve-enterprise.sources', repositories: [repositoryOf('pve-enterprise')] },
      ],
    }
    things.set('apt', kept)
  }
  return kept.files as File[]
}

function repositoryOf(component: string): Thing {
  const place = component === 'pve-enterprise' ? 'https://enterprise.proxmox.com' : 'http://download.proxmox.com'
  return {
    Types: ['deb'],
    URIs: [`${place}/debian/pve`],
    Suites: ['trixie'],
    Components: [component],
    Enabled: 1,
    FileType: 'sources',
    Comment: '',
    Options: [],
  }
}

function refuse(call: Call): void {
  const given = call.params.digest
  if (given !== undefined && given !== digestOf(filesOf(call)))
    throw failed('detected modified configuration - file changed by other user? Try again.')
}

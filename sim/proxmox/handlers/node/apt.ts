import { createHash } from 'node:crypto'
import { failed } from '../../api-error.ts'
import { type Call, hostOf, param, type Routes } from '../../call.ts'
import { listOf, shelf, type Thing } from '../shelf.ts'

const AT = '/nodes/{node}/apt'

/** Where a host takes its programs from. Repositories stand in files and are spoken of by file and number. */
export const nodeAptRoutes: Routes = {
  [`GET ${AT}`]: () => ['changelog', 'repositories', 'update', 'versions'].map((id) => ({ id })),
  [`GET ${AT}/update`]: () => [],
  [`GET ${AT}/repositories`]: (call) => {
    const files = filesOf(call)
    return {
      files: files.map(({ path, repositories }) => ({
        path,
        'file-type': 'sources',
        digest: [...createHash('sha256').update(JSON.stringify(repositories)).digest()],
        repositories,
      })),
      errors: [],
      infos: files.flatMap(({ path, repositories }) =>
        repositories.map((one, index) => ({ path, index: String(index), kind: 'origin', message: originOf(one) })),
      ),
      'standard-repos': STANDARD.map((standard) => {
        const { handle, name } = standard
        const found = files.flatMap(({ repositories }) => repositories).filter((one) => isThe(standard, one))
        const status = found.some(({ Enabled }) => Enabled === 1) ? 1 : found[0]?.Enabled
        return { handle, name, description: name, ...(status === undefined ? {} : { status }) }
      }),
      digest: digestOfAll(files),
    }
  },
  [`POST ${AT}/repositories`]: (call) => {
    const file = filesOf(call).find(({ path }) => path === param(call, 'path'))
    const index = Number(param(call, 'index'))
    const repository = file?.repositories[index]
    if (index < 0) throw failed(`error: invalid value: integer \`${index}\`, expected usize`)
    refuse(call)
    if (file === undefined) throw failed(`invalid path - ${param(call, 'path')}`)
    if (repository === undefined) throw failed(`invalid index - ${param(call, 'index')}`)
    if (call.params.enabled !== undefined) enable(repository, Number(call.params.enabled))
    return null
  },
  [`PUT ${AT}/repositories`]: (call) => {
    const name = param(call, 'handle').toLowerCase()
    if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) throw failed(`error: invalid APT repository handle: '${name}'`)
    refuse(call)
    const wanted = STANDARD.find(({ handle }) => handle === name)
    if (wanted === undefined)
      throw failed(`no standard repository for handle '${name}' on host product 'pve' and suite 'trixie'`)
    const files = filesOf(call)
    const known = files.flatMap(({ repositories }) => repositories).find((one) => isThe(wanted, one))
    // What is there and off is switched on.
    if (known !== undefined && known.Enabled !== 1) enable(known, 1)
    const there = files.find(({ path }) => path === wanted.file)
    if (known === undefined && there !== undefined) there.repositories.push(repositoryOf(wanted))
    else if (known === undefined)
      files.push({
        path: wanted.file,
        repositories: [repositoryOf(wanted)],
      })
    return null
  },
}

const SOURCES = '/etc/apt/sources.list.d'
const KEYRINGS = '/usr/share/keyrings'

interface Standard {
  readonly handle: string
  readonly name: string
  readonly uri: string
  readonly component: string
  readonly file: string
}

const ENTERPRISE = 'https://enterprise.proxmox.com/debian'
const DOWNLOAD = 'http://download.proxmox.com/debian'

/** What can be added by its handle. */
const STANDARD: readonly Standard[] = [
  {
    handle: 'enterprise',
    name: 'Enterprise',
    uri: `${ENTERPRISE}/pve`,
    component: 'pve-enterprise',
    file: `${SOURCES}/pve-enterprise.sources`,
  },
  {
    handle: 'no-subscription',
    name: 'No-Subscription',
    uri: `${DOWNLOAD}/pve`,
    component: 'pve-no-subscription',
    file: `${SOURCES}/proxmox.sources`,
  },
  {
    handle: 'test',
    name: 'Test',
    uri: `${DOWNLOAD}/pve`,
    component: 'pve-test',
    file: `${SOURCES}/proxmox.sources`,
  },
  ...['Squid', 'Tentacle'].flatMap((release) =>
    (['enterprise', 'no-subscription', 'test'] as const).map((component) => ({
      handle: `ceph-${release.toLowerCase()}-${component}`,
      name: `Ceph ${release} ${{ enterprise: 'Enterprise', 'no-subscription': 'No-Subscription', test: 'Test' }[component]}`,
      uri: `${component === 'enterprise' ? ENTERPRISE : DOWNLOAD}/ceph-${release.toLowerCase()}`,
      component,
      file: `${SOURCES}/ceph.sources`,
    })),
  ),
]

/** In a file of stanzas the switch is an option like any other. */
function enable(repository: Thing, on: number): void {
  repository.Enabled = on
  const Values = [on === 1 ? 'true' : 'false']
  const options = (repository.Options as Thing[] | undefined) ?? []
  const known = options.find(({ Key }) => Key === 'Enabled')
  if (known === undefined) repository.Options = [...options, { Key: 'Enabled', Values }]
  else known.Values = Values
}

const isThe = ({ uri, component }: Standard, { URIs, Components }: Thing) =>
  listOf(URIs).includes(uri) && listOf(Components).includes(component)

function originOf({ URIs }: Thing): string {
  return listOf(URIs).some((uri) => /proxmox\.com/.test(uri)) ? 'Proxmox' : 'Debian'
}

interface File {
  readonly path: string
  readonly repositories: Thing[]
}

function filesOf(call: Call): File[] {
  const things = shelf(call.world, `node/${hostOf(call).name}`)
  let kept = things.get('apt')
  if (kept === undefined) {
    const debian = repositoryOf(
      { uri: 'http://deb.debian.org/debian', component: 'main' },
      `${KEYRINGS}/debian-archive-keyring.gpg`,
    )
    const [enterprise] = STANDARD
    kept = {
      files: [
        { path: `${SOURCES}/debian.sources`, repositories: [debian] },
        ...(enterprise === undefined ? [] : [{ path: enterprise.file, repositories: [repositoryOf(enterprise)] }]),
      ],
    }
    things.set('apt', kept)
  }
  return kept.files as File[]
}

function repositoryOf(
  { uri, component }: Pick<Standard, 'uri' | 'component'>,
  keyring = `${KEYRINGS}/proxmox-archive-keyring.gpg`,
): Thing {
  return {
    Types: ['deb'],
    URIs: [uri],
    Suites: ['trixie'],
    Components: [component],
    Options: [{ Key: 'Signed-By', Values: [keyring] }],
    FileType: 'sources',
    Enabled: 1,
  }
}

function digestOfAll(files: readonly File[]): string {
  return createHash('sha256').update(JSON.stringify(files)).digest('hex')
}

function refuse(call: Call): void {
  const given = call.params.digest
  if (given !== undefined && !/^[0-9a-fA-F]{64}$/.test(given))
    throw failed(`error: invalid value: string "${given}", expected valid configuration digest`)
  if (given !== undefined && given !== digestOfAll(filesOf(call)))
    throw failed('detected modified configuration - file changed by other user? Try again.')
}

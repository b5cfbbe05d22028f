import { failed } from '../api-error.ts'
import { type Call, param, type Routes } from '../call.ts'
import { isInstalled } from './node/packages.ts'

/** Answers about things that a simulated site never has, and about others that nobody here can be asked for. */
export const absentRoutes: Routes = {
  'GET /cluster/acme/tos': () => 'https://letsencrypt.org/documents/LE-SA-v1.5-February-24-2025.pdf',
  'GET /cluster/acme/meta': () => ({
    caaIdentities: ['letsencrypt.org'],
    termsOfService: 'https://letsencrypt.org/documents/LE-SA-v1.5-February-24-2025.pdf',
    website: 'https://letsencrypt.org',
  }),
  'GET /cluster/sdn/dry-run': () => ({ 'frr-diff': '', 'interfaces-diff': '' }),
  'GET /cluster/sdn/fabrics': () => ['fabric', 'node', 'all'].map((subdir) => ({ subdir })),
  'GET /nodes/{node}/apt/changelog': changelog,
  'GET /nodes/{node}/query-oci-repo-tags': () => withoutSkopeo('list tags'),
  'POST /nodes/{node}/storage/{storage}/oci-registry-pull': () => withoutSkopeo('pull OCI images'),
}

/** Of the packages that every host has. What cannot be found out is told in the answer itself. */
function changelog(call: Call): string {
  const name = param(call, 'name')
  const { version } = call.params
  if (!isInstalled(name)) return `E: Unable to locate package ${name}\nRC: 100`
  if (version !== undefined && version !== '1.0') return `E: Version '${version}' for '${name}' was not found\nRC: 100`
  return `${name} (1.0) unstable; urgency=medium\n`
}

/** The program that speaks to registries is no part of an installation. */
function withoutSkopeo(doing: string): never {
  throw failed(`Install 'skopeo' to ${doing} from ${doing === 'list tags' ? 'OCI registries' : 'registries'}.`)
}

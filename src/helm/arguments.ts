import { createHash } from 'node:crypto'
import type { ChartPlace, ChartRequest } from '../drivers/chart-port.ts'

/* Helm's command line, as data. Input from a cluster is untrusted: it is checked first. */

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,200}$/
const OCI = /^oci:\/\/[A-Za-z0-9][A-Za-z0-9._:/-]{0,500}$/
const WEB = /^https?:\/\/[A-Za-z0-9[][^\s"'\\<>]{0,1000}$/
const VERSION = /^v?[0-9][A-Za-z0-9.+_-]{0,100}$/
const COMMIT = /^[0-9a-f]{40}$/
const DIRECTORY = /^(?!.*(?:^|\/)\.)[A-Za-z0-9][A-Za-z0-9._/-]{0,499}$/
const OBJECT = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/

/** Returns what is wrong with a request; undefined if Helm may run. */
export function requestProblem({ repo, chart, git, version, release, namespace }: ChartRequest): string | undefined {
  if (!OBJECT.test(release) || !OBJECT.test(namespace)) return 'its release or namespace has no valid name'
  if (git !== undefined)
    return WEB.test(git.url) && COMMIT.test(git.commit) && DIRECTORY.test(chart)
      ? undefined
      : 'its place in Git is not an address on the web, a whole commit and a directory'
  if (repo === undefined ? !OCI.test(chart) : !NAME.test(chart)) return 'its name is not that of a chart'
  if (repo !== undefined && !WEB.test(repo)) return 'its repository is not an address on the web'
  if (!VERSION.test(version)) return 'its version is not pinned'
  return undefined
}

export function pullArguments({ repo, chart, version }: ChartPlace & { readonly version: string }, into: string) {
  const from = repo === undefined ? [] : ['--repo', repo]
  return ['pull', chart, ...from, '--version', version, '--destination', into]
}

export function templateArguments(request: ChartRequest, archive: string, values: readonly string[]) {
  return [
    'template',
    request.release,
    archive,
    '--namespace',
    request.namespace,
    ...values.flatMap((file) => ['--values', file]),
    ...(request.kubeVersion === undefined ? [] : ['--kube-version', request.kubeVersion]),
    ...(request.apiVersions ?? []).flatMap((one) => ['--api-versions', one]),
    ...(request.upgrade ? ['--is-upgrade'] : []),
    // Helm writes the definitions beside the templates once, and never again.
    ...(!request.upgrade && (request.output?.crds ?? true) ? ['--include-crds'] : []),
    ...((request.output?.tests ?? false) ? [] : ['--skip-tests']),
    ...((request.output?.hooks ?? true) ? [] : ['--no-hooks']),
  ]
}

/** Name of a cached chart: a version of a chart never changes. */
export function archiveName({ repo = '', chart, version }: ChartPlace & { readonly version: string }): string {
  return `${hash([repo, chart, version])}.tgz`
}

/** Returns a hash of all inputs of a rendering. */
export function renderingKey(digest: string, request: ChartRequest, values: readonly string[]): string {
  const { release, namespace, kubeVersion = '', apiVersions = [], upgrade, output } = request
  const flags = `${String(upgrade)} ${JSON.stringify(output ?? {})}`
  return hash([digest, release, namespace, kubeVersion, apiVersions.join(' '), flags, ...values])
}

function hash(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}

/**
 * Returns Helm's whole environment: the proxy settings, and nothing of croft's user. Without the user's repositories,
 * keys and plugins the result is the same for everyone; no cluster is found either.
 */
export function environmentFor(
  env: Readonly<Record<string, string | undefined>>,
  home: string,
): Readonly<Record<string, string>> {
  const kept = PASSED.flatMap((name) => {
    const value = env[name] ?? env[name.toLowerCase()]
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    ...Object.fromEntries(kept),
    PATH: '/usr/bin:/bin',
    HOME: home,
    HELM_CACHE_HOME: `${home}/cache`,
    HELM_CONFIG_HOME: `${home}/config`,
    HELM_DATA_HOME: `${home}/data`,
    HELM_PLUGINS: `${home}/plugins`,
    KUBECONFIG: `${home}/no-cluster`,
  }
}

const PASSED = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'SSL_CERT_FILE', 'SSL_CERT_DIR'] as const

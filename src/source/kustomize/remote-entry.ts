/** An entry of `resources` or `components` outside this repository. */
export type RemoteEntry =
  | { readonly url: string; readonly commit: string; readonly path: string }
  /** It names a branch, a tag or nothing: all of them may point to another commit tomorrow. */
  | { readonly unpinned: string; readonly hint: string }
  | { readonly why: string; readonly hint: string }

const COMMIT = /^[0-9a-f]{40}$/

/** Reports whether kustomize would take an entry as remote. */
export function isRemote(entry: string): boolean {
  return /^[a-z][a-z0-9+.-]*:|^[^/]*@|\/\/|\?ref=|^(?:[a-z0-9-]+\.)+[a-z]{2,}\//i.test(entry)
}

/** Reads it as kustomize does: repository, directory behind it, and the commit of `ref`. Only a full commit is followed. */
export function remoteEntry(entry: string): RemoteEntry {
  const [before = '', query = ''] = entry.split('?', 2)
  const parameters = new URLSearchParams(query)
  const ref = parameters.get('ref') ?? parameters.get('version') ?? undefined
  const plain = before.replace(/^git::/i, '').replace(/^(?:gh:|github\.com[/:])/i, 'https://github.com/')
  if (/^(?:ssh:|[^/]*@)/i.test(plain))
    return { why: 'croft fetches bases over https alone', hint: 'write the https:// address' }
  const raw = /^https:\/\/raw\.githubusercontent\.com\/([^/]+\/[^/]+)\/([^/]+)\/(.+)$/i.exec(before)
  if (raw !== null) {
    const [, repository = '', at = '', path = ''] = raw
    const url = `https://github.com/${repository}`
    return COMMIT.test(at) ? { url, commit: at, path } : unpinned(url, at)
  }
  const found = /^(https:\/\/[^/]+)\/(.*)$/i.exec(plain)
  if (found === null) return { why: 'it is not an address that croft can fetch from', hint: COPY }
  const [, host = '', rest = ''] = found
  const [repository, path] = parted(rest)
  if (repository === undefined || /\.(?:ya?ml|json)$/i.test(before) || /\/releases\/download\//.test(before))
    return {
      why: 'a file at an address may change at any time',
      hint: `${COPY}, or declare it as an Addon with url and sha256`,
    }
  const url = `${host}/${repository}`
  return ref !== undefined && COMMIT.test(ref) ? { url, commit: ref, path } : unpinned(url, ref)
}

const COPY = 'copy it into the repository'

function unpinned(url: string, ref: string | undefined): RemoteEntry {
  return {
    unpinned: ref ?? 'its default branch',
    hint: `write the commit instead, all 40 digits: git ls-remote ${url} ${ref ?? 'HEAD'}`,
  }
}

/** `org/repo//path`, `org/repo.git/path`, or `org/repo/path` with the first two words as the repository. */
function parted(rest: string): readonly [string | undefined, string] {
  const tidy = (path: string) => path.replace(/^\/+|\/+$/g, '')
  const double = rest.indexOf('//')
  if (double > 0) return [rest.slice(0, double), tidy(rest.slice(double))]
  const suffix = /^(.*?\.git)(?:\/(.*))?$/.exec(rest)
  if (suffix !== null) return [suffix[1], tidy(suffix[2] ?? '')]
  const [organisation, name, ...path] = rest.split('/')
  if (organisation === undefined || name === undefined || name === '') return [undefined, '']
  return [`${organisation}/${name}`, tidy(path.join('/'))]
}

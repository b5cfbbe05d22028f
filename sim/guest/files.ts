/** A small file system: folders and files with bytes in them. Paths are absolute. */
export interface Files {
  read(path: string): Uint8Array | undefined
  text(path: string): string | undefined
  isFolder(path: string): boolean
  /** Makes the folders above it. */
  write(path: string, content: string | Uint8Array): void
  makeFolder(path: string): void
  /** Removes a file, or a folder with all in it. */
  remove(path: string): boolean
  list(path: string): string[]
  /** From here on everything below that path is there, and nowhere else. */
  mount(path: string, there: Files): void
}

/** Folders of a plain Debian. A write elsewhere needs its folder made first. */
const FOLDERS =
  '/ /tmp /root /etc/systemd/system /etc/ssh /var/lib /var/log /run /proc /home /opt /srv /mnt /usr/bin /usr/lib /usr/local/bin /usr/local/lib'.split(
    ' ',
  )

export function createFiles(): Files {
  const bytes = new Map<string, Uint8Array>()
  const folders = new Set<string>()
  const mounts = new Map<string, Files>()
  /** The files that a path belongs to, when those are not these. */
  const elsewhere = (path: string): Files | undefined => {
    if (mounts.size === 0) return undefined
    const at = normal(path)
    return [...mounts].find(([below]) => at === below || at.startsWith(`${below}/`))?.[1]
  }
  const own: Files = {
    read: (path) => bytes.get(normal(path)),
    text: (path) => {
      const found = bytes.get(normal(path))
      return found === undefined ? undefined : Buffer.from(found).toString('latin1')
    },
    isFolder: (path) => folders.has(normal(path)),
    write: (path, content) => {
      own.makeFolder(parent(normal(path)))
      bytes.set(normal(path), typeof content === 'string' ? new TextEncoder().encode(content) : content)
    },
    makeFolder: (path) => {
      for (let at = normal(path); !folders.has(at); at = parent(at)) folders.add(at)
    },
    remove: (path) => {
      const at = normal(path)
      const below = (one: string) => one === at || one.startsWith(`${at}/`)
      const gone = [...bytes.keys()].filter(below)
      const goneFolders = [...folders].filter(below)
      for (const one of gone) bytes.delete(one)
      for (const one of goneFolders) folders.delete(one)
      return gone.length + goneFolders.length > 0
    },
    list: (path) => {
      const at = normal(path) === '/' ? '/' : `${normal(path)}/`
      const names = [...bytes.keys(), ...folders]
        .filter((one) => one.startsWith(at) && one !== at)
        .map((one) => one.slice(at.length).split('/')[0] ?? '')
      return [...new Set(names)].filter((name) => name !== '').sort()
    },
    mount: (path, there) => {
      own.makeFolder(path)
      there.makeFolder(path)
      mounts.set(normal(path), there)
    },
  }
  folders.add('/')
  for (const folder of FOLDERS) own.makeFolder(folder)
  const of = (path: string): Files => elsewhere(path) ?? own
  return {
    read: (path) => of(path).read(path),
    text: (path) => of(path).text(path),
    isFolder: (path) => of(path).isFolder(path),
    write: (path, content) => of(path).write(path, content),
    makeFolder: (path) => of(path).makeFolder(path),
    remove: (path) => of(path).remove(path),
    list: (path) => of(path).list(path),
    mount: own.mount,
  }
}

function normal(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..') parts.pop()
    else parts.push(part)
  }
  return `/${parts.join('/')}`
}

function parent(path: string): string {
  return path === '/' ? '/' : path.slice(0, path.lastIndexOf('/')) || '/'
}

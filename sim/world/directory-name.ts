/** What each sort of file in a directory storage may be called. */
const NAMES: readonly RegExp[] = [
  /^iso\/[^/]+\.(?:iso|img)$/i,
  /^vztmpl\/[^/]+\.(?:tar|tar\.(?:gz|xz|zst|bz2))$/i,
  /^backup\/[^/]+\.(?:tgz|(?:tar|vma)(?:\.(?:gz|lzo|zst|bz2))?)$/,
  /^snippets\/[^/]+$/,
  /^import\/[ a-zA-Z0-9.+=_-]+\.ova\/[ a-zA-Z0-9.+=_-]+\.(?:qcow2|raw|vmdk)$/,
  /^import\/[ a-zA-Z0-9.+=_-]+\.(?:ova|ovf|qcow2|raw|vmdk)$/,
]

/** Why a name can be none of a volume in a directory storage, in the words of the daemon; undefined when it can. */
export function directoryNameProblem(name: string): string | undefined {
  const image = /^\d+\/(\S+)$/.exec(name)?.[1]
  if (image !== undefined) {
    const linked = /^(\S+)\/\d+\/(\S+)$/.exec(image)
    const parts = linked === null ? [image] : [linked[1] ?? '', linked[2] ?? '']
    return parts.map(imageNameProblem).find((problem) => problem !== undefined)
  }
  return NAMES.some((pattern) => pattern.test(name)) ? undefined : `unable to parse directory volume name '${name}'`
}

/** The same for the file of a disk alone. */
export function imageNameProblem(name: string): string | undefined {
  if (/^(?:vm|base|subvol)-\d+-[^/\s]+\.(?:raw|qcow2|vmdk|subvol)$/.test(name)) return undefined
  if (/^snap-.*\.qcow2$/.test(name)) return `'${name}' is a snapshot filename, not a volume!`
  return /^[^/\s]+\.(?:raw|qcow2|vmdk|subvol)$/.test(name) ? undefined : `unable to parse volume filename '${name}'`
}

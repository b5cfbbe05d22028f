/** `local:1,format=qcow2,ssd=1` taken apart: the part without a name first, then the named ones. */
export interface Properties {
  main: string
  readonly named: Map<string, string>
}

export function parseProperties(text: string, mainName?: string): Properties {
  const named = new Map<string, string>()
  let main = ''
  for (const part of text.split(',')) {
    // A comma too many, as some clients send it, says nothing.
    if (/^\s*$/.test(part)) continue
    const equals = part.indexOf('=')
    if (equals < 0) main = part
    else if (part.slice(0, equals) === mainName) main = part.slice(equals + 1)
    else named.set(part.slice(0, equals), part.slice(equals + 1))
  }
  return { main, named }
}

/** The other way round. Names are sorted, as Proxmox writes them. */
export function printProperties(properties: Properties): string {
  const parts = [...properties.named].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => `${name}=${value}`)
  return [properties.main, ...parts].join(',')
}

import { GIB } from '../world/sizes.ts'
import { type Command, out, type Said, textOf } from './command.ts'
import { type LibvirtHost, type SimPlace, textIn, volumes } from './domains.ts'

type Prefix = 'net' | 'pool'

const WORDS = { net: ['Network', 'network'], pool: ['Pool', 'pool'] } as const

/** What virsh knows of networks and pools. */
export const PLACE_COMMANDS: Readonly<Record<string, Command>> = {
  ...commandsOf('net'),
  ...commandsOf('pool'),
  'pool-refresh': withPlace('pool', (_, { name }) => out(`Pool ${name} refreshed\n\n`)),
  'pool-dumpxml': withPlace('pool', (at, { name, definition }) => {
    const pool = at.pools.get(name)
    let used = 0
    for (const volume of volumes(at, name).values()) used += volume.usedBytes ?? 0
    const sizes = `<capacity unit='bytes'>${pool?.totalBytes}</capacity><allocation unit='bytes'>${used}</allocation>`
    return out(`${definition.replace('</uuid>', `</uuid>${sizes}`)}\n`)
  }),
}

function commandsOf(prefix: Prefix): Readonly<Record<string, Command>> {
  const [title, noun] = WORDS[prefix]
  const done = ({ name }: SimPlace, what: string) => out(`${title} ${name} ${what}\n\n`)
  return {
    [`${prefix}-list`]: (at, { named }) => {
      const all = [...placesOf(at, prefix).values()].filter(({ live }) => named.has('all') || live !== undefined)
      return out(all.map((place) => `${named.has('uuid') ? place.uuid : place.name}\n`).join(''))
    },
    [`${prefix}-dumpxml`]: withPlace(prefix, (_, { definition, live }, inactive) =>
      out(`${inactive ? definition : (live ?? definition)}\n`),
    ),
    [`${prefix}-info`]: withPlace(prefix, (_, { live, autostart }) => {
      const state =
        prefix === 'net'
          ? `Active:  ${yes(live !== undefined)}`
          : `State:  ${live === undefined ? 'inactive' : 'running'}`
      return out(`${state}\nAutostart:  ${yes(autostart)}\n\n`)
    }),
    [`${prefix}-name`]: withPlace(prefix, (_, { name }) => out(`${name}\n\n`)),
    [`${prefix}-define`]: (at, _given, input) => define(at, prefix, textOf(input)),
    [`${prefix}-undefine`]: withPlace(prefix, (at, place) => {
      placesOf(at, prefix).delete(place.name)
      return done(place, 'has been undefined')
    }),
    [`${prefix}-start`]: (at, given, input) =>
      withPlace(prefix, (_, place) => {
        if (place.live !== undefined) return { error: `Requested operation is not valid: ${noun} is already active` }
        const pool = prefix === 'pool' ? at.pools.get(place.name) : undefined
        if (pool !== undefined) pool.built ||= given.named.has('build')
        if (pool?.built === false) return { error: `cannot open directory '${pool.path}': No such file or directory` }
        place.live = place.definition
        return done(place, 'started')
      })(at, given, input),
    [`${prefix}-destroy`]: withPlace(prefix, (_, place) => {
      if (place.live === undefined) return { error: `Requested operation is not valid: ${noun} is not active` }
      place.live = undefined
      return done(place, 'destroyed')
    }),
    [`${prefix}-autostart`]: (at, given, input) =>
      withPlace(prefix, (_, place) => {
        place.autostart = !given.named.has('disable')
        return done(place, `${place.autostart ? '' : 'un'}marked as autostarted`)
      })(at, given, input),
  }
}

function yes(is: boolean): string {
  return is ? 'yes' : 'no'
}

function placesOf(at: LibvirtHost, prefix: Prefix): Map<string, SimPlace> {
  return prefix === 'net' ? at.networks : (at.pools as Map<string, SimPlace>)
}

/** By its name or its UUID, as libvirt takes both. */
function withPlace(prefix: Prefix, action: (at: LibvirtHost, place: SimPlace, inactive: boolean) => Said): Command {
  const [, noun] = WORDS[prefix]
  return (at, { words: [word = ''], named }) => {
    const all = placesOf(at, prefix)
    const place = all.get(word) ?? [...all.values()].find(({ uuid }) => uuid === word)
    return place === undefined ? { error: `failed to get ${noun} '${word}'` } : action(at, place, named.has('inactive'))
  }
}

function define(at: LibvirtHost, prefix: Prefix, xml: string): Said {
  const [title, noun] = WORDS[prefix]
  const [name, uuid] = [textIn(xml, 'name'), textIn(xml, 'uuid')]
  if (name === undefined || uuid === undefined) return { error: `XML error: no ${noun}` }
  const all = placesOf(at, prefix)
  const there = all.get(name)
  if (there !== undefined && there.uuid !== uuid)
    return { error: `operation failed: ${noun} '${name}' already exists with uuid ${there.uuid}` }
  if (there !== undefined) there.definition = xml
  else {
    const place = { name, uuid, definition: xml, live: undefined, autostart: false }
    if (prefix === 'net') at.networks.set(name, place)
    else at.pools.set(name, { ...place, path: textIn(xml, 'path') ?? '', totalBytes: 500 * GIB, built: false })
  }
  return out(`${title} ${name} defined from /dev/stdin\n\n`)
}

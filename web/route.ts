import { createStore } from './store.ts'

/** The current view: `#/resource/Machine%2Fweb-1/diff` is the view `resource` with two arguments. */
export interface Place {
  readonly view: string
  readonly args: readonly string[]
}

function parse(): Place {
  const [view = '', ...args] = location.hash.replace(/^#\/?/, '').split('/')
  return { view: view === '' ? 'overview' : view, args: args.map(decode) }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export const place = createStore<Place>(parse())

addEventListener('hashchange', () => {
  place.set(parse())
  document.querySelector('main')?.scrollTo(0, 0)
})

export function hrefTo(view: string, ...args: readonly string[]): string {
  return `#/${[view, ...args.map(encodeURIComponent)].join('/')}`
}

export function goTo(view: string, ...args: readonly string[]): void {
  location.hash = hrefTo(view, ...args)
}

/** Returns the link to a key: clusters have a separate view, and all Power is in one. */
export function hrefToKey(key: string): string {
  const [kind, name = ''] = key.split('/')
  if (kind === 'Power') return hrefTo('power')
  return kind === 'Cluster' ? hrefTo('cluster', name) : hrefTo('resource', key)
}

import { type Thing, textOf } from '../shelf.ts'

type Rule = readonly [id: string, rule: Thing]

export function resourcesOf(rule: Thing): string[] {
  return textOf(rule.resources)
    .split(/[,;\s]+/)
    .filter((sid) => sid !== '')
}

export function nodesOf(rule: Thing): string[] {
  return placesOf(rule).map(([node]) => node)
}

/** What makes rules impossible or empty beside each other, by the id of each. Those that are switched off do not count. */
export function problemsOfAll(rules: ReadonlyMap<string, Thing>, nodes: number): Map<string, string[]> {
  const active = [...rules].filter(([, rule]) => rule.disable === undefined)
  const places = active.filter(([, rule]) => rule.type === 'node-affinity')
  const groups = active.filter(([, rule]) => rule.type === 'resource-affinity')
  const together = groups.filter(([, rule]) => rule.affinity === 'positive')
  const apart = groups.filter(([, rule]) => rule.affinity === 'negative')
  const problems = new Map<string, string[]>()
  const tell = (id: string, text: string) => problems.set(id, [...(problems.get(id) ?? []), text])
  tellUsedTwice(places, tell)
  for (const [id, rule] of groups)
    if (resourcesOf(rule).length < 2) tell(id, 'rule is ineffective as there are less than two resources')
  for (const [id, rule] of apart)
    if (resourcesOf(rule).length > nodes) tell(id, 'rule defines more resources than available nodes')
  tellTornApart(together, apart, tell)
  tellRanked(groups, places, tell)
  tellSpread(together, places, tell)
  tellCramped(apart, places, tell)
  return problems
}

type Tell = (id: string, text: string) => void

function tellUsedTwice(places: readonly Rule[], tell: Tell): void {
  for (const [id, rule] of places)
    for (const sid of resourcesOf(rule).sort())
      if (places.some(([other, { resources }]) => other !== id && resourcesOf({ resources }).includes(sid)))
        tell(id, `resource '${sid}' is already used in another node affinity rule`)
}

function tellTornApart(together: readonly Rule[], apart: readonly Rule[], tell: Tell): void {
  for (const { ids, resources } of connected(together))
    for (const [id, rule] of apart) {
      if (resourcesOf(rule).filter((sid) => resources.has(sid)).length < 2) continue
      tell(id, 'rule shares two or more resources with a positive resource affinity rule')
      for (const one of ids) tell(one, 'rule shares two or more resources with a negative resource affinity rule')
    }
}

function tellRanked(groups: readonly Rule[], places: readonly Rule[], tell: Tell): void {
  for (const [id, rule] of groups) {
    const touched = places.filter(([, place]) => meets(place, new Set(resourcesOf(rule))))
    if (!touched.some(([, place]) => new Set(placesOf(place).map(([, priority]) => priority)).size > 1)) continue
    tell(id, 'resources are in node affinity rules with multiple priorities')
    for (const [other] of touched)
      tell(
        other,
        'resources are in a resource affinity rule and cannot be in a node affinity rule with multiple priorities',
      )
  }
}

function tellSpread(together: readonly Rule[], places: readonly Rule[], tell: Tell): void {
  for (const { ids, resources } of connected(together)) {
    const touched = places.filter(([, place]) => meets(place, resources))
    if (touched.length < 2) continue
    for (const one of ids) tell(one, 'resources are in multiple node affinity rules')
    for (const [other] of touched)
      tell(
        other,
        'at least one resource is in a positive resource affinity rule and there are other resources in at least one other node affinity rule already',
      )
  }
}

function tellCramped(apart: readonly Rule[], places: readonly Rule[], tell: Tell): void {
  for (const [id, rule] of apart) {
    const resources = new Set(resourcesOf(rule))
    const touched = places.filter(([, place]) => meets(place, resources))
    const bound = new Set(touched.flatMap(([, place]) => resourcesOf(place).filter((sid) => resources.has(sid))))
    const allowed = new Set(touched.flatMap(([, place]) => nodesOf(place)))
    if (allowed.size >= bound.size) continue
    tell(id, 'two or more resources are restricted to less nodes than available to the resources')
    for (const [other] of touched)
      tell(
        other,
        'at least one resource is in a negative resource affinity rule and this rule would restrict these to less nodes than available to the resources',
      )
  }
}

function meets(rule: Thing, resources: ReadonlySet<string>): boolean {
  return resourcesOf(rule).some((sid) => resources.has(sid))
}

interface Group {
  readonly ids: string[]
  readonly resources: Set<string>
}

/** Rules that share a resource count as one; they are met in the order of their lowest resource. */
function connected(rules: readonly Rule[]): Group[] {
  const lowest = ([, rule]: Rule) => resourcesOf(rule).sort()[0] ?? ''
  const found: Group[] = []
  for (const [id, rule] of [...rules].sort((a, b) => (lowest(a) < lowest(b) ? -1 : 1))) {
    const own = resourcesOf(rule)
    const group = found.find(({ resources }) => own.some((sid) => resources.has(sid)))
    if (group === undefined) found.push({ ids: [id], resources: new Set(own) })
    else {
      group.ids.push(id)
      for (const sid of own) group.resources.add(sid)
    }
  }
  return found
}

function placesOf(rule: Thing): (readonly [node: string, priority: number])[] {
  return textOf(rule.nodes)
    .split(/[,;\s]+/)
    .filter((text) => text !== '')
    .map((text) => {
      const [node = '', priority = '0'] = text.split(':')
      return [node, Number(priority)]
    })
}

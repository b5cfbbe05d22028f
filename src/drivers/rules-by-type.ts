import type { Desired, Resource } from '../model/resource.ts'
import type { Rules } from '../model/rules.ts'

type Type = Desired['type']

/** A resource of a known type. */
type Typed<T extends Type> = Resource & { readonly desired: Extract<Desired, { readonly type: T }> }

/** The rules that take a declaration. */
type DeclaredRule =
  | 'declaredId'
  | 'listOf'
  | 'hostOf'
  | 'choosesId'
  | 'obstacles'
  | 'diff'
  | 'createSteps'
  | 'updateSteps'
  | 'adoptSteps'
  | 'irreplaceable'
  | 'remains'
  | 'readiness'
  | 'notes'

type RulesOfType<T extends Type> = {
  readonly [Name in DeclaredRule]: Parameters<Rules[Name]> extends [Resource, ...infer Rest]
    ? (resource: Typed<T>, ...rest: Rest) => ReturnType<Rules[Name]>
    : never
}

/** A driver's rules for each supported type. */
type RuleTable = { readonly [T in Type]?: RulesOfType<T> }

/** The rules of things without disks: all but guests. */
export const PLAIN_THING = {
  choosesId: () => false,
  irreplaceable: () => [],
  remains: () => [],
  notes: () => [],
} as const

/**
 * The rules of a driver, by type. Calling a rule for a type that the table lacks, or for a thing that `keeps` excludes,
 * is an error.
 */
export function rulesByType(
  driver: string,
  table: RuleTable,
  others: Omit<Rules, DeclaredRule | 'keeps'>,
  keeps: (resource: Resource) => boolean = () => true,
): Rules {
  const of = (resource: Resource) => {
    const rules = table[resource.desired.type]
    if (rules === undefined || !keeps(resource))
      throw new Error(
        `${resource.key} is of the type ${resource.desired.type}, which the driver ${driver} does not keep`,
      )
    // The cast is safe: the entry was found by this resource's type.
    return rules as unknown as Pick<Rules, DeclaredRule>
  }
  return {
    ...others,
    keeps: (resource) => table[resource.desired.type] !== undefined && keeps(resource),
    declaredId: (resource) => of(resource).declaredId(resource),
    listOf: (resource) => of(resource).listOf(resource),
    hostOf: (resource) => of(resource).hostOf(resource),
    choosesId: (resource) => of(resource).choosesId(resource),
    obstacles: (resource, survey) => of(resource).obstacles(resource, survey),
    diff: (resource, observed, known) => of(resource).diff(resource, observed, known),
    createSteps: (resource, externalId, survey) => of(resource).createSteps(resource, externalId, survey),
    updateSteps: (resource, observed, changes, survey) => of(resource).updateSteps(resource, observed, changes, survey),
    adoptSteps: (resource, observed) => of(resource).adoptSteps(resource, observed),
    irreplaceable: (resource, observed) => of(resource).irreplaceable(resource, observed),
    remains: (resource, externalId) => of(resource).remains(resource, externalId),
    readiness: (resource, observed) => of(resource).readiness(resource, observed),
    notes: (resource, observed) => of(resource).notes(resource, observed),
  }
}

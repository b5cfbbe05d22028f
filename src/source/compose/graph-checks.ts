import { fieldProblem } from '../../kinds/fields/problem.ts'
import type { FieldProblem } from '../../kinds/kind.ts'
import { builtInKind } from '../../model/kube-object.ts'
import { isFields } from '../manifest.ts'
import type { DocumentFields, ProblemPath } from './shape.ts'
import { expressionsIn } from './template.ts'

/* Mistakes in graphs that kro finds before there is an instance, and that no expression shows. */

const wrong = (path: ProblemPath, message: string, hint?: string) => fieldProblem('bad-graph', path, message, hint)

/** Returns why a template is no Kubernetes object. */
export function templateProblems(template: DocumentFields, path: ProblemPath): readonly FieldProblem[] {
  const { apiVersion, kind, metadata } = template
  const problems: FieldProblem[] = []
  if (typeof apiVersion !== 'string' || !/^[\w.-]+(?:\/[\w.-]+)?$/.test(apiVersion))
    problems.push(
      wrong(
        [...path, ...(apiVersion === undefined ? [] : ['apiVersion'])],
        'a template needs an apiVersion like apps/v1',
      ),
    )
  if (typeof kind !== 'string' || !/^\w+$/.test(kind))
    problems.push(wrong([...path, ...(kind === undefined ? [] : ['kind'])], 'a template needs a kind like Deployment'))
  // Warn only: a template may be a sketch without metadata, which only instances need.
  if (!isFields(metadata))
    problems.push({ ...wrong(path, 'a template needs metadata with a name'), severity: 'warning' })
  else if (metadata.namespace !== undefined && isWithoutNamespace(template))
    problems.push(
      wrong([...path, 'metadata', 'namespace'], `a ${String(kind)} is in no namespace`, 'leave metadata.namespace out'),
    )
  return problems
}

/** Kinds that every cluster has and that are in no namespace. */
export function isWithoutNamespace({ apiVersion, kind }: DocumentFields): boolean {
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return false
  return builtInKind({ apiVersion, kind })?.namespaced === false
}

/** Reports status fields without an expression: instances would never fill them. */
export function statusProblems(status: unknown, path: ProblemPath): readonly FieldProblem[] {
  if (isFields(status)) return Object.entries(status).flatMap(([name, one]) => statusProblems(one, [...path, name]))
  if (status === undefined || status === null || expressionsIn(status, path).found.length > 0) return []
  return [
    wrong(path, `${String(path.at(-1))} has no expression: the status of an instance shows what its resources say`),
  ]
}

/** Returns names of forEach that no copy's name uses: several copies would be one object. */
export function unusedIterators(
  forEach: readonly { readonly name: string; readonly path: ProblemPath }[],
  template: DocumentFields,
  readsOf: (expression: string) => readonly string[],
): readonly FieldProblem[] {
  const { name, namespace } = isFields(template.metadata) ? template.metadata : {}
  const used = new Set(expressionsIn([name, namespace], []).found.flatMap(({ expression }) => readsOf(expression)))
  return forEach
    .filter((one) => !used.has(one.name))
    .map((one) =>
      wrong(
        one.path,
        `${one.name} is not in the name of the object: its copies would all have the same one`,
        `put \${${one.name}} into metadata.name`,
      ),
    )
}

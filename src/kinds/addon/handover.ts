import type { KubeObject } from '../../model/kube-object.ts'
import type { FieldProblem } from '../kind.ts'
import type { AddonDeclaration } from './objects.ts'
import type { ChartFields, HandoverFields } from './schema.ts'

const HERE = 'https://kubernetes.default.svc'

/** The objects by which another keeps an add-on; the last one is the one that says whether it does. */
export function keepersOf(
  { spec, name }: AddonDeclaration,
  chart: ChartFields | undefined,
  namespace: string,
): readonly KubeObject[] {
  const { handover } = spec
  if (handover === undefined) return []
  return handover.to === 'argocd'
    ? [application(name, handover, chart, namespace)]
    : fluxObjects(name, handover, chart, namespace)
}

/** What stands in the way of handing an add-on over. */
export function handoverProblems({ handover, chart, preset }: AddonDeclaration['spec']): readonly FieldProblem[] {
  if (handover === undefined) return []
  const problems: FieldProblem[] = []
  if (
    chart === undefined &&
    preset === undefined &&
    (handover.repository === undefined || handover.path === undefined)
  ) {
    const message = `${handover.to} must be told where it finds the manifests`
    problems.push({ code: 'no-repository', path: ['spec', 'handover'], message, hint: 'set repository and path' })
  }
  if (handover.to === 'argocd' && chart?.valuesFrom !== undefined) {
    const message = 'Argo CD cannot read values of a chart from a Secret'
    problems.push({
      code: 'secret-values',
      path: ['spec', 'chart', 'valuesFrom'],
      message,
      hint: 'hand it over to flux, or let the chart name a Secret of its own',
    })
  }
  return problems
}

function application(
  name: string,
  handover: HandoverFields,
  chart: ChartFields | undefined,
  namespace: string,
): KubeObject {
  const { repository, path, revision, project } = handover
  return {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    // No finalizer: when the Application goes, what it kept stays.
    metadata: { name, namespace: handover.namespace ?? 'argocd' },
    spec: {
      project,
      source:
        repository !== undefined || chart === undefined
          ? { repoURL: repository, path, targetRevision: revision }
          : {
              repoURL: chart.repo ?? chart.name.replace(/^oci:\/\//, '').replace(/\/[^/]*$/, ''),
              chart: chart.name.replace(/^.*\//, ''),
              targetRevision: chart.version,
              helm: { releaseName: name, ...(chart.values === undefined ? {} : { valuesObject: chart.values }) },
            },
      destination: { server: HERE, namespace },
      syncPolicy: { automated: { prune: false, selfHeal: true }, syncOptions: ['ServerSideApply=true'] },
    },
  }
}

function fluxObjects(
  name: string,
  handover: HandoverFields,
  chart: ChartFields | undefined,
  namespace: string,
): readonly KubeObject[] {
  const metadata = { name, namespace: handover.namespace ?? 'flux-system' }
  const { repository, path, revision } = handover
  if (repository !== undefined || chart === undefined) {
    return [
      {
        apiVersion: 'source.toolkit.fluxcd.io/v1',
        kind: 'GitRepository',
        metadata,
        spec: { interval: '1m', url: repository, ref: { branch: revision } },
      },
      {
        apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
        kind: 'Kustomization',
        metadata,
        // It never prunes what we made: what is to go, goes by a person's decision.
        spec: {
          interval: '10m',
          path: `./${path ?? ''}`,
          prune: false,
          sourceRef: { kind: 'GitRepository', name },
          targetNamespace: namespace,
          wait: true,
        },
      },
    ]
  }
  const oci = chart.name.startsWith('oci://')
  return [
    {
      apiVersion: 'source.toolkit.fluxcd.io/v1',
      kind: 'HelmRepository',
      metadata,
      spec: {
        interval: '1h',
        url: oci ? chart.name.replace(/\/[^/]*$/, '') : chart.repo,
        ...(oci ? { type: 'oci' } : {}),
      },
    },
    {
      apiVersion: 'helm.toolkit.fluxcd.io/v2',
      kind: 'HelmRelease',
      metadata,
      spec: {
        interval: '10m',
        // The very release that is installed already: Helm goes on with it.
        releaseName: name,
        targetNamespace: namespace,
        storageNamespace: namespace,
        chart: {
          spec: {
            chart: chart.name.replace(/^.*\//, ''),
            version: chart.version,
            sourceRef: { kind: 'HelmRepository', name },
          },
        },
        ...(chart.values === undefined ? {} : { values: chart.values }),
      },
    },
  ]
}

import { isIP } from 'node:net'
import { RELEASES } from '../../k3s/releases.ts'
import { parseVersion } from '../../k3s/version.ts'
import { isRecord } from '../../lib/is-record.ts'
import { wordSet } from '../../lib/word-list.ts'
import { checkAnnotations } from '../fields/annotations.ts'
import { show } from '../fields/explain.ts'
import { badValue, fieldProblem, missingField } from '../fields/problem.ts'
import type { FieldProblem, RawManifest } from '../kind.ts'
import { checkNodes } from './check-nodes.ts'
import type { ClusterFields } from './schema.ts'

/** Checks a cluster beyond the schema, from its own manifest alone. */
export function checkCluster(spec: ClusterFields, manifest: RawManifest): readonly FieldProblem[] {
  if (spec.type === 'existing')
    return [...checkAnnotations(manifest), ...checkExisting(spec, manifest), ...checkFamily(spec)]
  const problems = [...checkOwn(spec, manifest)]
  if (problems.length > 0) return [...checkAnnotations(manifest), ...problems]
  return [
    ...checkAnnotations(manifest),
    ...checkVersion(spec.version),
    ...checkEndpoint(spec),
    ...checkFamily(spec),
    ...checkNodes(spec, manifest.metadata.name),
  ]
}

/** Refuses channels: tomorrow they may mean another release, but the commit must pin it. */
function checkVersion(version: string): readonly FieldProblem[] {
  const path = ['spec', 'version']
  if (parseVersion(version) === undefined) {
    const minor = /^v?1\.([0-9]+)(?:\.|$)/.exec(version)?.[1]
    const ofMinor = minor === undefined ? undefined : RELEASES.findLast((one) => one.minor === Number(minor))?.version
    return [
      badValue(
        path,
        `version is ${show(version)}; expected the exact release, like v1.34.3+k3s1`,
        ofMinor === undefined
          ? `the newest that croft knows is ${RELEASES.at(-1)?.version}`
          : `the newest of 1.${minor} that croft knows is ${ofMinor}`,
      ),
    ]
  }
  if (RELEASES.some((release) => release.version === version)) return []
  return [
    {
      code: 'unknown-release',
      path,
      severity: 'warning',
      message: `${version} is not in croft's table of releases, so its etcd is not known`,
      hint: 'upgrades to it are refused where its etcd matters',
    },
  ]
}

function checkEndpoint({ endpoint, servers }: ClusterFields): readonly FieldProblem[] {
  const path = ['spec', 'endpoint']
  const names = servers.map((server) => server.name ?? server.machine?.split('/')[1] ?? '')
  const bad = (message: string, hint?: string, more: readonly string[] = []): readonly FieldProblem[] => [
    badValue([...path, ...more], message, hint),
  ]
  if (endpoint === undefined) {
    if (servers.length === 1) return []
    return [
      missingField(
        path,
        `endpoint is missing: with ${servers.length} servers the API needs an address that survives one of them`,
        'add endpoint: {vip: …}, {dns: …}, or {server: NAME} if it may be lost with that server',
      ),
    ]
  }
  const { vip, dns, server, kubeVip } = endpoint
  if ([vip, dns, server].filter((one) => one !== undefined).length !== 1)
    return bad('endpoint is one of vip, dns and server')
  if (kubeVip !== undefined && vip === undefined)
    return bad('kubeVip announces a vip, and there is none', undefined, ['kubeVip'])
  if (server !== undefined && !names.includes(server))
    return bad(`there is no server ${server}`, `servers: ${names.join(', ')}`, ['server'])
  if (server !== undefined && servers.length > 1) {
    return [
      {
        code: 'endpoint-of-one',
        path: [...path, 'server'],
        severity: 'warning',
        message: `the API is lost to everybody when ${server} is, although ${servers.length - 1} other servers run`,
        hint: 'use a vip or a dns name',
      },
    ]
  }
  return []
}

function checkFamily({ family, podCidrs, serviceCidrs, endpoint }: ClusterFields): readonly FieldProblem[] {
  const problems: FieldProblem[] = []
  const wanted = { ipv4: 'IPv4', ipv6: 'IPv6', dual: 'IPv4 and IPv6' }
  for (const [field, ranges] of [
    ['podCidrs', podCidrs],
    ['serviceCidrs', serviceCidrs],
  ] as const) {
    if (family === undefined || ranges === undefined) continue
    const has = (version: 4 | 6) => ranges.some((text) => isIP(text.split('/')[0] ?? '') === version)
    const is = has(4) && has(6) ? 'dual' : has(6) ? 'ipv6' : 'ipv4'
    if (is !== family) {
      problems.push(
        badValue(
          ['spec', field],
          `${field} has ${wanted[is]} and family says ${wanted[family]}`,
          'leave family out where the ranges are written',
        ),
      )
    }
  }
  if (endpoint?.vip !== undefined && family !== undefined && family !== 'dual') {
    const vipFamily = isIP(endpoint.vip) === 6 ? 'ipv6' : 'ipv4'
    if (vipFamily !== family)
      problems.push(
        badValue(['spec', 'endpoint', 'vip'], `the vip is ${wanted[vipFamily]} and the cluster ${wanted[family]}`),
      )
  }
  return problems
}

/** Fields of a cluster that croft does not run. All others are about machines, K3s or etcd. */
const OF_EXISTING = wordSet(`
  type description kubeconfig context inCluster charts proxy family podCidrs serviceCidrs clusterDomain
`)

const ONLY_OF_EXISTING = ['kubeconfig', 'context', 'inCluster', 'charts'] as const

/** Checks an existing cluster: one connection, and no composition. */
function checkExisting(spec: ClusterFields, { spec: written }: RawManifest): readonly FieldProblem[] {
  const problems = Object.keys(isRecord(written) ? written : {})
    .filter((field) => !OF_EXISTING.has(field))
    .map(
      (field): FieldProblem =>
        fieldProblem(
          'not-of-existing',
          ['spec', field],
          `${field} is not for a cluster of type existing: croft changes neither its nodes nor its release`,
          'remove it; or use type: k3s for a cluster that croft runs',
        ),
    )
  if ((spec.kubeconfig === undefined) === (spec.inCluster === undefined))
    problems.push({
      code: spec.kubeconfig === undefined ? 'missing-field' : 'bad-value',
      path: ['spec', spec.kubeconfig === undefined ? 'kubeconfig' : 'inCluster'],
      message:
        spec.kubeconfig === undefined
          ? 'kubeconfig is missing: it says how the cluster is reached'
          : 'kubeconfig and inCluster are two ways to the cluster; expected one',
      ...(spec.kubeconfig === undefined
        ? { hint: 'kubeconfig: {file: …}, {env: …}, {sops: …}, or inCluster: true' }
        : {}),
    })
  if (spec.context !== undefined && spec.kubeconfig === undefined)
    problems.push(badValue(['spec', 'context'], 'context is of a kubeconfig, and none is named'))
  return problems
}

/** Checks a cluster that croft runs: it has a release and servers, and needs no kubeconfig. */
function checkOwn(spec: ClusterFields, { spec: written }: RawManifest): readonly FieldProblem[] {
  const given = new Set(Object.keys(isRecord(written) ? written : {}))
  const problems: FieldProblem[] = []
  if (!given.has('version')) problems.push(missingField(['spec', 'version'], 'version is missing; it is text'))
  if (!given.has('servers')) problems.push(missingField(['spec', 'servers'], 'servers is missing; it is a list'))
  for (const field of ONLY_OF_EXISTING)
    if (spec[field] !== undefined)
      problems.push({
        code: 'not-of-k3s',
        path: ['spec', field],
        message: `${field} is for a cluster of type existing, and croft runs this one itself`,
        hint: 'remove it, or set type: existing',
      })
  return problems
}

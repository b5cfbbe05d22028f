import { z } from 'zod'
import { ipAddress } from '../fields/address.ts'
import { blocks } from '../fields/block.ts'
import { duration } from '../fields/duration.ts'
import { whole } from '../fields/number.ts'
import { secretReference } from '../fields/ssh.ts'
import { dnsName, line, logicalName, matching, objectName, sshKey, userName, webUrl } from '../fields/text.ts'
import { exactlyOne } from '../fields/validations.ts'
import { userData } from '../machines/fields.ts'
import { agentFields, flags, freeLine, labels, serverFields, taint } from './node-schema.ts'
import { backup, remediation, upgrade, wholePath } from './policy-schema.ts'

/** Fields only for clusters that croft does not run: access to the API, and what charts may assume of it. */
const existingFields = {
  type: z.enum(['k3s', 'existing']).default('k3s'),
  kubeconfig: secretReference.optional(),
  context: matching(
    /^(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9@:._/+-]*$/,
    'the name of a context, like admin@prod',
    253,
  ).optional(),
  inCluster: z.literal(true).optional(),
  charts: z
    .strictObject({
      kubeVersion: matching(/^v?1\.[0-9]+\.[0-9]+$/, 'a version of Kubernetes like 1.34.3', 40).optional(),
      apiVersions: z
        .array(matching(/^[a-z0-9.-]+(?:\/[A-Za-z0-9]+){1,2}$/, 'like monitoring.coreos.com/v1', 200))
        .max(100)
        .default([]),
    })
    .optional(),
}

/** Packaged components of K3s that can be left out. */
const COMPONENTS = ['coredns', 'local-storage', 'metrics-server', 'runtimes', 'servicelb', 'traefik'] as const

/** In one order, so that reordering them in the file is no change. */
const sorted = <Value extends string>(list: Value[]): Value[] => [...new Set(list)].sort()

const range = matching(/^[0-9a-fA-F:.]+\/[0-9]{1,3}$/, 'a range like 10.42.0.0/16 or fd00:42::/56', 60)

const registryHost = matching(
  /^(?:\*|[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?(?::[0-9]{1,5})?)$/,
  'a registry like docker.io or registry.home.arpa:5000, or "*"',
  300,
)

const registries = z.strictObject({
  mirrors: z
    .record(
      registryHost,
      z.strictObject({
        endpoint: z.array(webUrl).min(1).max(10),
        rewrite: z.record(freeLine, freeLine).optional(),
      }),
    )
    .default({}),
  configs: z
    .record(
      registryHost,
      z.strictObject({
        auth: secretReference.optional(),
        tls: z
          .strictObject({
            caFile: wholePath.optional(),
            certFile: wholePath.optional(),
            keyFile: wholePath.optional(),
            insecureSkipVerify: z.boolean().optional(),
          })
          .optional(),
      }),
    )
    .optional(),
})

const releaseFile = matching(
  /^v[0-9]+\.[0-9]+\.[0-9]+\+k3s[0-9]+\/(?:amd64|arm64|arm)$/,
  'a release and its architecture, like v1.34.3+k3s1/amd64',
  60,
)

const sha256 = matching(/^[0-9a-f]{64}$/, '64 digits and letters a to f, as sha256sum prints them')

const artifact = exactlyOne({
  release: z.literal(true).optional(),
  mirror: webUrl.optional(),
  file: matching(/^\/[a-zA-Z0-9._/+{}-]+$/, 'a whole path like /opt/k3s/{version}/k3s', 1024).optional(),
})

const gate = z.union([z.literal('off'), z.literal(false), duration], { error: 'a deadline like 5m, or off' })

export const clusterSchema = z.strictObject({
  description: line.optional(),
  ...existingFields,
  /** The exact release of K3s. The check refuses other values, with a hint. */
  version: z
    // Unquoted, `1.34` is a number in YAML: convert it, so that the check reports it like text.
    .preprocess(
      (value) => (typeof value === 'number' ? String(value) : value),
      matching(/^[a-zA-Z0-9][a-zA-Z0-9.+_-]*$/, 'the exact release, like v1.34.3+k3s1', 60),
    )
    // The check asks for it where croft runs the cluster.
    .default(''),
  endpoint: z
    .strictObject({
      vip: ipAddress.optional(),
      dns: dnsName.optional(),
      server: logicalName.optional(),
      kubeVip: z
        .strictObject({
          version: matching(/^v[0-9]+\.[0-9]+\.[0-9]+$/, 'a release of kube-vip like v1.0.3', 60),
          image: matching(
            /^[a-z0-9][a-z0-9._-]*(?::[0-9]{1,5})?(?:\/[a-z0-9][a-z0-9._-]*)*$/,
            'an image without its tag, like ghcr.io/kube-vip/kube-vip',
            300,
          ).optional(),
          interface: matching(/^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/, 'the name of a network interface', 15).optional(),
        })
        .optional(),
    })
    .optional(),
  network: logicalName.optional(),
  connection: objectName.optional(),
  class: objectName.optional(),
  servers: z.array(serverFields).min(1).max(99).default([]),
  agents: blocks(agentFields, 500),
  family: z.enum(['ipv4', 'ipv6', 'dual']).optional(),
  podCidrs: z.array(range).min(1).max(2).optional(),
  serviceCidrs: z.array(range).min(1).max(2).optional(),
  nodeMasks: z.strictObject({ ipv4: whole(8, 32).optional(), ipv6: whole(16, 128).optional() }).optional(),
  flannelBackend: z.enum(['vxlan', 'host-gw', 'wireguard-native', 'none']).default('vxlan'),
  kubeProxy: z.boolean().default(true),
  networkPolicy: z.boolean().default(true),
  clusterDomain: dnsName.optional(),
  disable: z.array(z.enum(COMPONENTS)).max(20).overwrite(sorted).default([]),
  tlsSans: z
    .array(z.union([ipAddress, dnsName], { error: 'a DNS name or an IP address' }))
    .max(100)
    .default([]),
  secretsEncryption: z.boolean().default(true),
  registries: registries.optional(),
  serverFlags: flags.default({}),
  nodeFlags: flags.default({}),
  labels: labels.default({}),
  taints: z.array(taint).max(50).default([]),
  user: userName.optional(),
  sshKeys: z.array(sshKey).max(100).optional(),
  userData: userData.optional(),
  gates: z
    .strictObject({
      route: gate.optional(),
      dns: gate.optional(),
      clock: gate.optional(),
      api: gate.optional(),
      hostname: duration.optional(),
    })
    .optional(),
  upgrade: upgrade.default(() => upgrade.parse({})),
  remediation: remediation.default(() => remediation.parse({})),
  backup: backup.optional(),
  staleState: z.enum(['refuse', 'wipe', 'recreate']).default('refuse'),
  ghostMembers: z.enum(['ask', 'remove']).default('ask'),
  allow: z
    .strictObject({
      degraded: z.boolean().default(false),
      interruption: z.boolean().default(false),
      takeOver: z.boolean().default(false),
    })
    .default({ degraded: false, interruption: false, takeOver: false }),
  artifacts: blocks(artifact, 10),
  /** `v1.34.3+k3s1/amd64` → SHA-256 of the program. Without it the file of checksums beside the release is believed. */
  checksums: z.record(releaseFile, sha256).optional(),
  proxy: webUrl.optional(),
  deletionPolicy: z.enum(['Delete', 'Orphan']).default('Delete'),
  protect: z.boolean().optional(),
})

export type ClusterFields = z.output<typeof clusterSchema>

import { createHmac } from 'node:crypto'
import { readCloudInit } from '../../src/cloudinit/result.ts'
import { parseUserData } from '../../src/cloudinit/user-data.ts'
import { readFacts, readNode } from '../../src/drivers/k3s/read-node.ts'
import { markOf } from '../../src/drivers/kubernetes/marks.ts'
import { objectReadiness } from '../../src/drivers/kubernetes/readiness.ts'
import { readAddresses, returned } from '../../src/drivers/libvirt/agent-shell.ts'
import { viewDomain } from '../../src/drivers/libvirt/domain-view.ts'
import { parseXml, printXml } from '../../src/drivers/libvirt/xml.ts'
import { readUps } from '../../src/drivers/power/nut.ts'
import { translate as translateProxmox } from '../../src/drivers/proxmox/api-errors.ts'
import {
  readAddresses as addressesOfAgent,
  readConfig,
  readPending,
  withConfig,
} from '../../src/drivers/proxmox/guest-details.ts'
import { readMark, splitTags } from '../../src/drivers/proxmox/marks.ts'
import { parseProperties, parseSize } from '../../src/drivers/proxmox/property-string.ts'
import { readSurvey } from '../../src/drivers/proxmox/survey.ts'
import { readProbe } from '../../src/drivers/ssh/probe.ts'
import { translate as translateKubernetes } from '../../src/kubernetes/api-errors.ts'
import { readKubeconfig } from '../../src/kubernetes/kubeconfig.ts'
import { recordsOf } from '../../src/kubernetes/objects.ts'
import { holds } from '../../src/lib/cel.ts'
import { foreignPattern, PatternRefused } from '../../src/lib/foreign-pattern.ts'
import type { ObservedResource } from '../../src/model/resource.ts'
import { Secret } from '../../src/model/secret.ts'
import { readFiles } from '../../src/source/files/read-files.ts'
import { FORMATS, readForeign } from '../../src/source/foreign/registry.ts'
import { createWebhookDoor } from '../../src/source/git/webhook.ts'
import { readDocuments } from '../../src/source/manifest.ts'
import { objectsOfBlobs } from '../../src/source/read-here.ts'
import { SopsFailed, treesOf } from '../../src/source/secrets/sops.ts'
import { readMetadata } from '../../src/source/secrets/sops-metadata.ts'
import { readMarks } from '../../src/ssh/answer.ts'

/** A parser of foreign text. It returns a value, or throws one of the errors in `refuses`. */
export interface Parser {
  readonly name: string
  /** Words of its language, from which inputs are made in addition to random bytes. */
  readonly words: readonly string[]
  read(text: string): unknown
  /** It reads JSON with these keys: half of the inputs are such, whole and of any shape. */
  readonly keys?: readonly string[]
  /** Errors by which it says no. Anything else that it throws is a fault. */
  readonly refuses?: readonly (new (
    ...given: never[]
  ) => Error)[]
}

const files = (texts: Readonly<Record<string, string>>) => ({
  files: Object.entries(texts).map(([path, text]) => ({ path, bytes: Buffer.from(text) })),
  links: [],
})
const json = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
const YAML = [
  'a: ',
  '- ',
  '{',
  '}',
  '[',
  ']',
  '&a ',
  '*a',
  '<<: ',
  '|\n',
  '>\n',
  '---\n',
  '\n',
  '  ',
  '"',
  "'",
  '!!str ',
  '? ',
  '#',
  '\t',
  '%YAML 1.2\n',
  '\\u0000',
  'null',
  '1e999',
  '0x',
  '~',
  ': ',
  ',',
]
const JSON_WORDS = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ':',
  ',',
  '"a"',
  'null',
  'true',
  '-1',
  '1e999',
  '"__proto__"',
  '"constructor"',
  '"data"',
  '"items"',
  '"kind"',
  '"message"',
  '{"a":',
  '[[[[',
]
const FOREIGN_WORDS = [
  '{"version":4,"terraform_version":"1.9.0","resources":[',
  '{"mode":"managed","type":"proxmox_virtual_environment_vm","name":"a","instances":[{"attributes":{',
  '"vm_id":100,"cpu":[{"cores":2}],"disk":[{"size":',
  'apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\nspec:\n',
  '  chart: {spec: {chart: x, sourceRef: {name: y}}}\n',
  'apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: a}\nspec:\n  generators: [{list: {elements: [',
  '  template: {metadata: {name: "{{x}}"}, spec: {source: {repoURL: "{{y}}"}}}\n',
  'apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1\nkind: EnvironmentVM\nmetadata: {name: a}\nspec: {forProvider: {',
  '[server]\na ansible_host=10.0.0.1\nb[1:3]\n[agent]\nc\n[all:vars]\nk3s_version=v1.34.3+k3s1\n',
  'server: {hosts: {a: {}}, vars: {k3s_version: v1.34.3+k3s1}}\n',
  'extra_server_args: "{{ x | default(y) }} --disable {% if z is defined %}',
  '{{ groups["server"][0] ~ (a if b else c) }}{% endif %}--tls-san ',
]
const HOOK_SECRET = new Secret('s')
const GUEST: ObservedResource = { connection: 'a', host: 'pve1', type: 'vm', externalId: '100', power: 'running' }

const KUBE_KINDS = [
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'Job',
  'PersistentVolumeClaim',
  'Namespace',
  'Pod',
  'CustomResourceDefinition',
  'Service',
  'HelmChart',
  'Application',
]

export const PARSERS: readonly Parser[] = [
  { name: 'manifests in YAML', words: YAML, read: (text) => readDocuments(text) },
  {
    name: 'a tree of manifests',
    words: [...YAML, 'apiVersion: v1\n', 'kind: Machine\n', 'kind: List\nitems:\n', 'metadata: {name: a}\n', 'spec:\n'],
    read: (text) => readFiles(files({ 'a.yaml': text })).declarations,
  },
  {
    name: 'kustomizations',
    words: [
      ...YAML,
      'resources: [x.yaml]\n',
      'patches:\n',
      '- target: {name: "(a+)+"}\n',
      '  patch: |-\n',
      '    - {op: copy, from: /a, path: /b}\n',
      'namePrefix: p\n',
      'configMapGenerator:\n',
      'replacements:\n',
      'components: [.]\n',
      'resources: [../a]\n',
    ],
    read: (text) =>
      readFiles(
        files({ 'kustomization.yaml': text, 'x.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n' }),
      ).problems,
  },
  {
    name: 'SOPS files',
    words: [
      ...YAML,
      'sops:\n',
      '  age:\n',
      '  - recipient: age1\n',
      '    enc: |\n',
      'ENC[AES256_GCM,data:',
      ',iv:',
      ',tag:',
      ',type:str]',
      '  mac: ',
      '  encrypted_regex: "(a+)+$"\n',
      '  lastmodified: 2024-01-01T00:00:00Z\n',
    ],
    read: (text) => readMetadata(treesOf(text).metadata),
    refuses: [SopsFailed],
  },
  {
    name: 'webhook bodies',
    words: [...JSON_WORDS, '"ref"', '"refs/heads/main"'],
    keys: ['ref', 'after', 'repository', 'object_kind', 'commits'],
    read(text) {
      const body = Buffer.from(text)
      const signature = `sha256=${createHmac('sha256', 's').update(body).digest('hex')}`
      const door = createWebhookDoor([{ source: 'a', ref: 'refs/heads/main', secret: HOOK_SECRET }])
      return door({ source: 'a', headers: { 'x-hub-signature-256': signature, 'x-github-event': 'push' }, body })
    },
  },
  {
    name: "lists of Proxmox's API",
    words: [...JSON_WORDS, '"vmid"', '"type":"qemu"', '"node"', '"tags":"croft;x"', '"status"', '"upid"', '"maxmem"'],
    keys: ['data', 'vmid', 'id', 'type', 'node', 'tags', 'status', 'upid', 'maxmem', 'name', 'template', 'storage'],
    read: (text) => readSurvey('a', 0, json(text), json(text)),
  },
  {
    name: "what Proxmox passes on of a guest's agent and of its configuration",
    words: [...JSON_WORDS, '"result":[{"name":"eth0","ip-addresses":[', '{"ip-address":"10.0.0.1"},', ']}]', '"v1":{'],
    keys: ['result', 'name', 'ip-addresses', 'ip-address', 'v1', 'errors', 'key', 'value', 'pending', 'delete', 'meta'],
    read(text) {
      const data = json(text)
      const looks = [readConfig(data), readPending(data)]
      return [addressesOfAgent(data), readCloudInit(text), looks.map((one) => one && withConfig(GUEST, one, 0))]
    },
  },
  {
    name: "texts in Proxmox's configurations",
    words: [',', '=', 'size=', '4G', ';', 'croft', '-', '<!--', '-->', '\n', 'uid', '"', '%', ' '],
    read: (text) => [
      parseProperties(text, 'file'),
      parseSize(text),
      splitTags(text),
      readMark({ description: text, tags: text }, '100'),
    ],
  },
  {
    name: "errors of Proxmox's API",
    words: [...JSON_WORDS, 'errors', 'permission check failed', 'VM ', ' is locked (', "storage '"],
    read: (text) => translateProxmox({ status: 500, text, parameters: { a: text }, doing: 'x' }),
  },
  {
    name: 'answers of the Kubernetes API',
    words: [...JSON_WORDS, '"reason"', '"details"', '"causes"', '"status"', '"Conflict"', 'admission webhook "'],
    keys: ['kind', 'reason', 'message', 'details', 'causes', 'field', 'status', 'code'],
    read: (text) => translateKubernetes({ status: 409, body: json(text), doing: 'x' }),
  },
  {
    name: 'lists of the Kubernetes API',
    words: [
      ...JSON_WORDS,
      '"metadata"',
      '"status"',
      '"conditions"',
      '"type":"Ready"',
      '"kind":"Deployment"',
      '"items":[',
    ],
    keys: [
      'items',
      'kind',
      'metadata',
      'name',
      'namespace',
      'labels',
      'annotations',
      'croft.dev/uid',
      'spec',
      'status',
      'conditions',
      'type',
      'replicas',
      'observedGeneration',
      'containerStatuses',
      'nodeInfo',
      'addresses',
      'creationTimestamp',
      'deletionTimestamp',
    ],
    read(text) {
      const data = json(text) as { readonly items?: unknown } | null
      const objects = [...recordsOf(data?.items), ...recordsOf([data])]
      return objects.flatMap((object) =>
        KUBE_KINDS.map((kind) => [readNode(object), markOf(object), objectReadiness({ object: { ...object, kind } })]),
      )
    },
  },
  {
    name: 'what a node says about itself',
    words: [...JSON_WORDS, '"data"', '"service":"running"', '"etcd"', '"members"', '"snapshots"', '"gates"'],
    keys: ['data', 'service', 'etcd', 'members', 'snapshots', 'name', 'id', 'gates', 'job', 'state', 'failure'],
    read: (text) => readFacts(json(text)),
  },
  {
    name: 'what a look at the items of a host says',
    words: ['0 ', '1 ', '7 ', 'a ', ':', 'aGFsbG8=', '\n', '\nend\n', 'boot ', '999999999999 ', '\u00ff'],
    read: (text) => readProbe(`${text}\nend\n`, ['a', 'b']),
  },
  {
    name: 'patterns',
    words: [
      '(',
      ')',
      'a',
      '+',
      '*',
      '?',
      '{2}',
      '{99}',
      '{1,100}',
      '|',
      '[',
      ']',
      '^',
      '\\',
      '\\p{L}',
      '(?i)',
      '.',
      '(?:',
      '-',
    ],
    read: (text) => foreignPattern(text.slice(0, 600)).finds('a'.repeat(1_000)),
    refuses: [PatternRefused],
  },
  {
    name: 'expressions',
    words: [
      'object',
      '.',
      'a',
      '(',
      ')',
      '[1,2,3]',
      '.all(x, ',
      '.map(x, ',
      '&&',
      '!',
      '"a"',
      '.matches(',
      '+',
      '{',
      '}',
      ' ',
    ],
    read: (text) => holds(text.slice(0, 2_100), { a: { b: 'c' }, list: [1, 2, 3] }),
  },
  {
    name: 'user data as text',
    words: [...YAML, 'runcmd:\n', 'write_files:\n', '? '],
    read: (text) => parseUserData(`#cloud-config\n${text}`),
  },
  {
    name: 'kubeconfigs',
    words: [...YAML, 'clusters:\n', 'contexts:\n', 'users:\n', 'current-context: '],
    read: (text) => readKubeconfig(text),
  },
  {
    name: 'answers of guest agents',
    words: [...JSON_WORDS, '"return"', '"ip-addresses"', '"ip-address"', '"out-data"', '"exitcode"'],
    keys: ['return', 'name', 'ip-addresses', 'ip-address', 'out-data', 'exitcode', 'error'],
    read: (text) => [returned(text), readAddresses(text)],
  },
  {
    name: 'packed artifacts',
    words: [
      '\u001f\u008b',
      '\0'.repeat(100),
      'ustar',
      'a.yaml',
      '0000644',
      '77777777777',
      'kind: A\n',
      '---\n',
      '\0',
      'x/../../y.yaml',
      'L',
      '5',
    ],
    read: (text) => objectsOfBlobs([{ name: 'a', bytes: Buffer.from(text.padEnd(1024, '\0'), 'latin1'), tar: true }]),
    // zlib and tar throw plain errors, which the fetching code turns into a sentence.
    refuses: [Error],
  },
  {
    name: 'what a UPS says',
    words: ['VAR ', 'ups ', 'ups.status ', '"OL"', '"', '\\', 'ERR ', 'battery.charge', '1e999', '-', '\n'],
    read: (text) => readUps(text.split('\n')),
  },
  {
    name: "libvirt's XML",
    words: [
      '<',
      '>',
      '</',
      '/>',
      '<domain>',
      '</domain>',
      '<disk ',
      "type='file'",
      '&amp;',
      '&#0;',
      '&x;',
      '<!DOCTYPE x [<!ENTITY a "b">]>',
      '<!--',
      '-->',
      '<![CDATA[',
      ']]>',
      '<?xml?>',
      'a',
      ' ',
      '"',
    ],
    read(text) {
      const found = parseXml(text)
      if (found === undefined) return undefined
      printXml(found)
      return viewDomain(found, { poolOf: () => undefined, networkOf: () => undefined } as never)
    },
  },
  ...FORMATS.map(({ name, names }) => ({
    name: `files that are imported: ${name}`,
    words: [...YAML, ...JSON_WORDS, ...FOREIGN_WORDS],
    keys: ['version', 'resources', 'type', 'name', 'instances', 'attributes', 'mode', 'module', 'index_key', 'values'],
    read: (text: string) =>
      readForeign(
        name,
        [
          { path: 'a.yaml', text },
          { path: 'b.tfstate', text },
          ...(names === undefined ? [] : ['group_vars/all.yml', 'known_hosts'].map((path) => ({ path, text }))),
        ],
        {},
      ),
  })),
  {
    name: 'what programs on hosts say',
    words: ['croft', '\u001b[31m', '\n', ' ', '0', '-1', 'nonce', '\r'],
    read: (text) => readMarks(text, 'nonce'),
  },
]

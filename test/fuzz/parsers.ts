import { createHmac } from 'node:crypto'
import { readAddresses, returned } from '../../src/drivers/libvirt/agent-answers.ts'
import { viewDomain } from '../../src/drivers/libvirt/domain-view.ts'
import { parseXml, printXml } from '../../src/drivers/libvirt/xml.ts'
import { readUps } from '../../src/drivers/power/nut.ts'
import { translate as translateProxmox } from '../../src/drivers/proxmox/api-errors.ts'
import { readMark, splitTags } from '../../src/drivers/proxmox/marks.ts'
import { parseProperties, parseSize } from '../../src/drivers/proxmox/property-string.ts'
import { readSurvey } from '../../src/drivers/proxmox/survey.ts'
import { translate as translateKubernetes } from '../../src/kubernetes/api-errors.ts'
import { readKubeconfig } from '../../src/kubernetes/kubeconfig.ts'
import { Http1Error, readResponse } from '../../src/lib/http1-response.ts'
import { Secret } from '../../src/model/secret.ts'
import { readDocuments } from '../../src/source/manifest.ts'
import { readFiles } from '../../src/source/read-files.ts'
import { objectsOfBlobs } from '../../src/source/read-here.ts'
import { SopsFailed, treesOf } from '../../src/source/sops.ts'
import { readMetadata } from '../../src/source/sops-metadata.ts'
import { createWebhookDoor } from '../../src/source/webhook.ts'
import { readMarks } from '../../src/ssh/answer.ts'

/** Something that reads what others wrote. It answers, or says no in a way of its own. */
export interface Parser {
  readonly name: string
  /** Words of its language, out of which inputs are made besides plain chance. */
  readonly words: readonly string[]
  read(text: string): unknown
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
const HOOK_SECRET = new Secret('s')

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
    read: (text) => readSurvey('a', 0, json(text), json(text)),
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
    read: (text) => translateKubernetes({ status: 409, body: json(text), doing: 'x' }),
  },
  {
    name: 'kubeconfigs',
    words: [...YAML, 'clusters:\n', 'contexts:\n', 'users:\n', 'current-context: '],
    read: (text) => readKubeconfig(text),
  },
  {
    name: 'HTTP answers',
    words: [
      'HTTP/1.1 200 OK\r\n',
      'content-length: ',
      '5\r\n',
      'transfer-encoding: chunked\r\n',
      '\r\n',
      'ffffffff\r\n',
      '0\r\n',
      ':',
      ' ',
      '\n',
      'a'.repeat(200),
    ],
    read(text) {
      const reader = readResponse(10_000)
      return reader.push(Buffer.from(text, 'latin1')) ?? reader.end()
    },
    refuses: [Http1Error],
  },
  {
    name: 'answers of guest agents',
    words: [...JSON_WORDS, '"return"', '"ip-addresses"', '"ip-address"', '"out-data"', '"exitcode"'],
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
    // zlib and tar say no by plain errors, which whoever fetches turns into a sentence.
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
  {
    name: 'what programs on hosts say',
    words: ['croft', '\u001b[31m', '\n', ' ', '0', '-1', 'nonce', '\r'],
    read: (text) => readMarks(text, 'nonce'),
  },
]

import type { Definition } from '../model/rest.ts'
import { choice, flag, lines, list, named, number, ofType, properties, prose, secret, text, usual } from './fields.ts'
import { bandwidth } from './storage.ts'

/** Settings of the whole cluster: options, metric servers, ACME. */
export const CLUSTER: readonly Definition[] = [
  {
    name: 'cluster-options',
    kind: 'ProxmoxClusterOptions',
    noun: 'cluster options',
    about: 'Options of the datacentre.',
    list: { path: '/cluster/options', rows: 'one' },
    key: ['id'],
    identity: { constant: 'options' },
    update: { method: 'PUT', path: '/cluster/options' },
    unset: 'delete',
    fields: {
      description: prose('For people.', { absent: '' }),
      keyboard: text('Keyboard of consoles, like de.'),
      language: text('Language of the page, like de.'),
      // Proxmox stores `html5` for `applet`, so a plan with it would never be empty.
      console: choice('Which console opens.', ['vv', 'html5', 'xtermjs']),
      fencing: choice('How a lost host is stopped.', ['watchdog', 'hardware', 'both'], { absent: 'watchdog' }),
      ...named('_', {
        emailFrom: text('Sender of mail.'),
        httpProxy: text('Proxy for downloads, like http://proxy:3128.'),
        macPrefix: text('Beginning of MAC addresses.', { absent: 'BC:24:11' }),
        maxWorkers: number('Tasks at once when many guests are acted on.', { min: 1 }),
      }),
      consentText: prose('Shown before login.', { api: 'consent-text', absent: '' }),
      registeredTags: list('Tags that only some may use.', { api: 'registered-tags', separator: ';' }),
      bandwidth,
      nextId: properties('Where free ids are looked for.', {
        api: 'next-id',
        parts: { lower: number('First.', { min: 1 }), upper: number('One above the last.', { min: 1 }) },
      }),
      migration: properties('How guests move.', {
        parts: {
          type: choice('Is it encrypted?', ['secure', 'insecure']),
          network: text('Network that it goes over.'),
        },
      }),
      replication: properties('How copies go.', {
        parts: {
          type: choice('Is it encrypted?', ['secure', 'insecure']),
          network: text('Network that it goes over.'),
        },
      }),
      ha: properties('High availability.', {
        parts: {
          shutdownPolicy: choice(
            'What happens to guests when a host is shut down.',
            ['freeze', 'failover', 'migrate', 'conditional'],
            {
              api: 'shutdown_policy',
            },
          ),
        },
      }),
      crs: properties('How guests are spread.', {
        parts: named('-', {
          ha: choice('What counts.', ['basic', 'static', 'dynamic']),
          haRebalanceOnStart: flag('Choose the host again when a guest starts?'),
        }),
      }),
      tagStyle: properties('How tags look.', {
        api: 'tag-style',
        parts: named('-', {
          caseSensitive: flag('Do capital letters count?'),
          colorMap: text('Colours, like prod:ff0000:ffffff;dev:00ff00.'),
          ordering: choice('In which order.', ['config', 'alphabetical']),
          shape: choice('In which form.', ['circle', 'dense', 'full', 'none']),
        }),
      }),
      userTagAccess: properties('Which tags people may set.', {
        api: 'user-tag-access',
        parts: named('-', {
          userAllow: choice('How free they are.', ['existing', 'free', 'list', 'none']),
          userAllowList: list('With list: the tags.', { separator: ';' }),
        }),
      }),
      notify: properties('What Proxmox reports by mail.', {
        parts: named('-', {
          packageUpdates: choice('New packages.', ['auto', 'always', 'never']),
          fencing: choice('A stopped host.', ['always', 'never']),
          replication: choice('A failed copy.', ['always', 'never']),
        }),
      }),
    },
    privileges: ['Sys.Audit on /', 'Sys.Modify on /'],
    exampleName: 'datacentre',
    example: {
      keyboard: 'de',
      console: 'html5',
      registeredTags: ['k3s', 'prod'],
      nextId: { lower: 500, upper: 600 },
      migration: { type: 'secure', network: '10.0.0.0/24' },
      ha: { shutdownPolicy: 'migrate' },
    },
  },
  {
    name: 'metric-server',
    kind: 'ProxmoxMetricServer',
    noun: 'metric server',
    about: 'Where the cluster sends its measurements.',
    list: { path: '/cluster/metrics/server', item: { path: '/cluster/metrics/server/{id}' } },
    key: ['id'],
    create: { method: 'POST', path: '/cluster/metrics/server/{id}' },
    update: { method: 'PUT', path: '/cluster/metrics/server/{id}', whole: true },
    remove: { method: 'DELETE', path: '/cluster/metrics/server/{id}' },
    unset: 'delete',
    fields: {
      type: choice('What it is.', ['graphite', 'influxdb', 'opentelemetry'], { required: true, fixed: true }),
      server: text('Address.', { required: true }),
      port: number('Port.', { required: true, min: 1, max: 65_536 }),
      disabled: flag('Does it rest?', { api: 'disable', absent: false }),
      ...ofType(['graphite', 'influxdb'], {
        mtu: number('Largest packet.', { min: 512, max: 65_536, absent: 1500 }),
        timeout: number('Seconds to wait.', { min: 0, absent: 1 }),
      }),
      ...ofType(['graphite'], {
        path: text('graphite: beginning of names.', { absent: 'proxmox' }),
        proto: choice('graphite: protocol.', ['udp', 'tcp'], { absent: 'udp' }),
      }),
      ...ofType(['influxdb'], {
        influxProto: choice('influxdb: protocol.', ['udp', 'http', 'https'], { api: 'influxdbproto', absent: 'udp' }),
        bucket: text('influxdb: bucket.'),
        organization: text('influxdb: organization.'),
        token: secret('influxdb: token.'),
        ...named('-', {
          apiPathPrefix: text('influxdb: beginning of the path.'),
          maxBodySize: number('influxdb: largest body.', { min: 1, absent: 25_000_000 }),
          verifyCertificate: flag('influxdb: verify the certificate?', { absent: true }),
        }),
      }),
      ...ofType(
        ['opentelemetry'],
        named('-', {
          otelProtocol: choice('opentelemetry: protocol.', ['http', 'https'], { absent: 'https' }),
          otelPath: text('opentelemetry: path.', { absent: '/v1/metrics' }),
          otelTimeout: number('opentelemetry: seconds to wait.', { min: 1, max: 10, absent: 5 }),
          otelVerifySsl: flag('opentelemetry: verify the certificate?', { absent: true }),
          otelMaxBodySize: number('opentelemetry: largest body.', { min: 1024, absent: 10_000_000 }),
          otelCompression: choice('opentelemetry: compression.', ['none', 'gzip'], { absent: 'gzip' }),
          otelResourceAttributes: prose('opentelemetry: attributes, like a=b,c=d.'),
          otelHeaders: secret('opentelemetry: headers.'),
        }),
      ),
    },
    privileges: ['Sys.Audit on /', 'Sys.Modify on /'],
    exampleName: 'influx',
    example: {
      type: 'influxdb',
      server: '192.168.4.60',
      port: 8086,
      influxProto: 'https',
      bucket: 'proxmox',
      organization: 'home',
      token: { env: 'INFLUX_TOKEN' },
    },
  },
  {
    name: 'acme-account',
    kind: 'ProxmoxAcmeAccount',
    noun: 'ACME account',
    about:
      'An account with a certificate authority. Proxmox lets only root itself register one, never a token: croft looks whether it is there and says what to run.',
    list: { path: '/cluster/acme/account' },
    key: ['name'],
    create: { method: 'POST', path: '/cluster/acme/account', id: 'name' },
    unset: 'empty',
    rootOnly: 'pvenode acme account register {id} MAIL',
    fields: {
      contact: text('Mail address.', { required: true, unread: true }),
      directory: text('Address of the authority.', { unread: true }),
      termsOfService: text('Address of the terms that are accepted.', { api: 'tos_url', unread: true }),
      eabKid: secret('Key id for external account binding.', { api: 'eab-kid' }),
      eabHmacKey: secret('Key for external account binding.', { api: 'eab-hmac-key' }),
    },
    privileges: ['root@pam'],
    exampleName: 'default',
    example: { contact: 'ops@example.com', directory: 'https://acme-v02.api.letsencrypt.org/directory' },
  },
  {
    name: 'acme-plugin',
    kind: 'ProxmoxAcmePlugin',
    noun: 'ACME plugin',
    about: 'How the cluster proves that a name is its own: by an entry in DNS.',
    list: { path: '/cluster/acme/plugins' },
    key: ['plugin'],
    create: { method: 'POST', path: '/cluster/acme/plugins', id: 'id', with: { type: 'dns' } },
    update: usual('/cluster/acme/plugins', 'id', { digest: true }).update,
    remove: { method: 'DELETE', path: '/cluster/acme/plugins/{id}' },
    unset: 'delete',
    fields: {
      api: text('Name of the provider, like cf.', { required: true }),
      data: lines('What the provider needs, by name. Everybody with read access to the cluster can read it.'),
      secretData: secret('In place of data: KEY=value lines, in base64.', { api: 'data' }),
      disabled: flag('Does it rest?', { api: 'disable', absent: false }),
      hosts: list('Hosts that use it. Default: all.', { api: 'nodes' }),
      validationDelay: number('Seconds to wait until the entry is asked for.', {
        api: 'validation-delay',
        min: 0,
        max: 172_800,
        absent: 30,
      }),
    },
    privileges: ['Sys.Modify on /'],
    exampleName: 'cloudflare',
    example: { api: 'cf', data: { CF_Account_ID: 'example' }, validationDelay: 60 },
  },
]

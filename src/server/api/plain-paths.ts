type PlainPathDocument = Readonly<Record<string, unknown>>

/** The part of the document about what is not JSON in, JSON out: the stream, notices, sign-in by a provider, probes. */
export function plainPaths(): Readonly<Record<string, PlainPathDocument>> {
  const text = (description: string, type = 'text/plain') => ({
    description,
    content: { [type]: { schema: { type: 'string' } } },
  })
  const get = (
    operationId: string,
    summary: string,
    responses: PlainPathDocument,
    parameters?: readonly PlainPathDocument[],
  ) => ({
    get: { operationId, summary, ...(parameters === undefined ? {} : { parameters }), responses },
  })
  const optional = (name: string, where: 'query' | 'header') => ({
    name,
    in: where,
    required: false,
    schema: { type: 'string' },
  })
  const noProvider = { description: 'no OpenID Connect provider is configured' }
  return {
    '/api/events': get(
      'getEvents',
      'The live stream: delta, happened and reset, each with an id to resume from',
      { 200: text('server-sent events', 'text/event-stream'), 503: { description: 'too many listeners' } },
      [optional('after', 'query'), optional('Last-Event-ID', 'header')],
    ),
    '/api/logs': get(
      'getLogs',
      'The log of a container below an add-on, for who may operate; with follow=true until it is closed',
      {
        200: text('lines'),
        401: { description: 'not signed in' },
        403: { description: 'may not operate' },
        404: { description: 'no such add-on, pod or container' },
        422: { description: 'the cluster refuses: the container has not started, or none ran before it' },
        503: { description: 'the cluster does not answer, or too many logs are read' },
      },
      [
        ...['cluster', 'addon', 'namespace', 'pod', 'container'].map((one) => ({
          ...optional(one, 'query'),
          required: true,
        })),
        optional('tail', 'query'),
        optional('previous', 'query'),
        optional('follow', 'query'),
      ],
    ),
    '/api/console': get(
      'getConsole',
      'The web socket of a console that was opened before: subprotocols croft-console and the ticket. Binary messages are bytes of the terminal; text messages are JSON: {columns, rows} and {drawn} from the page, {ended} from croft',
      {
        101: { description: 'the console' },
        401: { description: 'not signed in' },
        403: { description: 'may not, asked by another page, or no such ticket' },
        426: { description: 'not asked for as a web socket' },
      },
      [{ ...optional('Sec-WebSocket-Protocol', 'header'), required: true }],
    ),
    '/api/sign-in/oidc': get('getSignInOidc', 'Sign in with the OpenID Connect provider', {
      302: { description: 'to the provider' },
      401: { description: 'the provider cannot be reached' },
      404: noProvider,
    }),
    '/api/sign-in/oidc/callback': get(
      'getSignInOidcCallback',
      'Where the provider sends the browser back to',
      { 302: { description: 'signed in, to the page' }, 401: { description: 'refused' }, 404: noProvider },
      [optional('code', 'query'), optional('state', 'query'), optional('error', 'query')],
    ),
    '/hooks/{source}': {
      post: {
        operationId: 'postHook',
        summary: 'A signed push notice of GitHub, GitLab, Gitea or Forgejo',
        parameters: [{ name: 'source', in: 'path', required: true, schema: { type: 'string' } }],
        requestBody: { required: true, content: { 'application/json': { schema: {} } } },
        responses: {
          202: { description: 'taken' },
          401: { description: 'not signed as configured' },
          404: { description: 'no webhook is configured' },
          413: { description: 'too large' },
          429: { description: 'too many' },
        },
      },
    },
    '/metrics': get('getMetrics', 'For Prometheus', {
      200: text('metrics'),
      404: { description: 'no metrics are kept here' },
    }),
    '/healthz': get('getHealthz', 'Is the process well?', { 200: text('ok'), 503: text('not well') }),
    '/readyz': get('getReadyz', 'Has a complete pass been made?', { 200: text('ready'), 503: text('not yet') }),
  }
}

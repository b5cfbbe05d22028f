import type { BucketObject, ClusterDeps } from '../drivers/cluster-port.ts'
import { LIMITS } from '../lib/limits.ts'
import { askOnce, type HttpAnswer, permitPlace } from '../lib/outgoing.ts'
import { inParallel } from '../lib/parallel.ts'
import { readS3Error, readS3Page, type S3Request, s3Request } from '../lib/s3-request.ts'
import { whyFetchFailed } from '../lib/why-fetch-failed.ts'

/**
 * Objects below a folder of a bucket, with the metadata that K3s wrote to each. Asked from this computer, because K3s lists
 * a bucket only where its own API answers. Follows no redirect: the signature is for this server.
 */
export const listBucket: NonNullable<ClusterDeps['listBucket']> = async ({ egress }, bucket, folder, signal) => {
  const ask = async ({ url, ...request }: S3Request): Promise<HttpAnswer> => {
    const asked = { ...request, mostBytes: LIMITS.s3PageBytes, signal }
    const answer = await askOnce(permitPlace(url, egress), asked).catch((error: unknown): never => {
      throw new Error(whyFetchFailed(error))
    })
    if (answer.status === 200) return answer
    throw new Error(readS3Error(answer.status, Buffer.from(answer.bytes).toString('utf8')))
  }
  const prefix = folder === undefined ? '' : `${folder.replace(/\/+$/, '')}/`
  const found: BucketObject[] = []
  let next: string | undefined
  for (let page = 0; page < LIMITS.s3Pages; page++) {
    const query = {
      'list-type': '2',
      delimiter: '/',
      prefix,
      ...(next === undefined ? {} : { 'continuation-token': next }),
    }
    const { bytes } = await ask(s3Request(bucket, { method: 'GET', query }, Date.now()))
    const read = readS3Page(Buffer.from(bytes).toString('utf8'))
    if (read === undefined) throw new Error('the answer is no list of a bucket')
    const objects = read.objects.filter(({ key }) => key !== prefix)
    await inParallel(objects, LIMITS.s3Requests, async ({ key, ...object }) => {
      const { headers } = await ask(s3Request(bucket, { method: 'HEAD', key }, Date.now()))
      const metadata = Object.entries(headers).flatMap(([name, value]) =>
        name.startsWith('x-amz-meta-') && typeof value === 'string' ? [[name.slice(11), value] as const] : [],
      )
      found.push({ ...object, name: key.slice(prefix.length), metadata: new Map(metadata) })
    })
    next = read.next
    if (next === undefined) break
  }
  return found
}

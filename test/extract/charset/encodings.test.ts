import { describe, expect, it } from 'vitest'
import { pageOf } from '../../../src/conformance/page.js'

/** Bytes written by another program's codecs. */
const TEXTS: [encoding: string, hex: string, text: string][] = [
  ['shift_jis', '82a8928382cc8e9e8ad48740eee0b1', 'お茶の時間①髙ｱ'],
  ['euc-jp', 'a4aac3e3a4cebbfeb4d68eb1', 'お茶の時間ｱ'],
  ['iso-2022-jp', '1b2442242a4363244e3b7e34561b2842', 'お茶の時間'],
  ['gb18030', 'bac8b2e8b5c4cab1baf29534b235a2e3', '喝茶的时候𠮷€'],
  // The last two are of GB18030, which browsers read as GBK too.
  ['gbk', 'bac8b2e8b5c49572baf29534b235a2e3', '喝茶的時候𠮷€'],
  ['big5', 'b3dcaff9aabaaec9add4', '喝茶的時候'],
  // Kana are common on pages from Taiwan, though Big5 once had none.
  ['big5', 'c6e7c755c77b', 'ぁのァ'],
  // The last four are syllables that Windows added.
  ['euc-kr', 'c2f720b8b6bdc3b4c220bdc3b0a32094eebc84c6528141', '차 마시는 시간 뷁펲힣갂'],
  ['windows-1250', '50f8ed6c699a209e6c759d6f75e86bfd206bf9f2', 'Příliš žluťoučký kůň'],
  ['windows-1251', 'c2f0e5ecff20efe8f2fc20f7e0e9', 'Время пить чай'],
  ['windows-1252', '935468e994209620e020352080', '“Thé” – à 5 €'],
  ['windows-1253', 'bff1e120e3e9e120f4f3dce9', 'Ώρα για τσάι'],
  ['windows-1254', 'c761792076616b74fd206465f0696c206d6920ddfe', 'Çay vaktı değil mi İş'],
  ['windows-1255', 'e6eeef20fae4', 'זמן תה'],
  ['windows-1256', 'e6deca20c7e1d4c7ed', 'وقت الشاي'],
  ['windows-1257', '41726261746f73206d657461733a20e0e8e6ebe1f0f8fb', 'Arbatos metas: ąčęėįšųū'],
  ['windows-1258', 'd0fdf5cc6e67', 'Đươ\u0300ng'],
  ['windows-874', 'e0c7c5d2b9e9d3aad2', 'เวลาน้ำชา'],
  ['koi8-r', 'f7d2c5cdd120d0c9d4d820dec1ca', 'Время пить чай'],
  ['iso-8859-2', 'aff3b3746120b3f364bc', 'Żółta łódź'],
]

const pageIn = (hex: string, meta: string, contentType: string) =>
  pageOf({
    url: 'https://example.com/',
    body: Buffer.concat([
      Buffer.from(`<!doctype html><head>${meta}<title>`),
      Buffer.from(hex, 'hex'),
      Buffer.from('</title></head><p>'),
      Buffer.from(hex, 'hex'),
      Buffer.from('<a href="/after">x</a>'),
    ]),
    headers: { 'content-type': contentType },
  })

describe('a page in another encoding', () => {
  it.for(TEXTS)('%s (%s), declared by its header', ([encoding, hex, text]) => {
    const page = pageIn(hex, '', `text/html; charset=${encoding}`)
    expect([page.charset, page.title]).toEqual([encoding, text])
    expect(page.text).toContain(text)
    expect(page.links.map(({ url }) => url)).toEqual(['https://example.com/after'])
  })

  it.for(TEXTS)('%s (%s), declared by its markup', ([encoding, hex, text]) => {
    const meta = `<meta http-equiv="Content-Type" content="text/html; charset=${encoding}">`
    const page = pageIn(hex, meta, 'text/html')
    expect([page.charset, page.title]).toEqual([encoding, text])
    expect(page.document.querySelector('p')?.textContent).toContain(text)
  })

  it('reads all syllables of Korean, each once', () => {
    const codes: number[] = []
    for (let lead = 0x81; lead <= 0xc8; lead++)
      for (let trail = 0x41; trail <= 0xfe; trail++) codes.push(lead, trail, 0x20)
    const body = Buffer.from(codes)
    const page = pageOf({
      url: 'https://example.com/',
      body,
      headers: { 'content-type': 'text/html; charset=euc-kr' },
    })
    const syllables = page.content.match(/[\uac00-\ud7a3]/g) ?? []
    expect([syllables.length, new Set(syllables).size]).toEqual([11172, 11172])
  })

  it.for(TEXTS)('never loses the markup after a broken character: %s', ([encoding]) => {
    for (const lead of [0x81, 0xa1, 0xb0, 0xe0, 0xfe]) {
      const body = Buffer.concat([Buffer.from('<p>'), Buffer.from([lead]), Buffer.from('<a href="/x">')])
      const headers = { 'content-type': `text/html; charset=${encoding}` }
      const page = pageOf({ url: 'https://example.com/', body, headers })
      expect(page.links, `byte ${lead}`).toHaveLength(1)
    }
  })
})

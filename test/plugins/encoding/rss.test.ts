import { deepEqual, equal, throws } from 'node:assert/strict';
import type { DataObject } from '#contract';
import { parseDate } from '../../../plugins/encoding/rss/date.ts';
import { person } from '../../../plugins/encoding/rss/feed.ts';
import { plugin } from '../../../plugins/encoding/rss/index.ts';
import { read } from './support.ts';

const items = (body: string) => read(plugin, body)!['items'] as DataObject[];

const empty = {
  items: null,
  author: null,
  categories: null,
  custom: null,
  copyright: '',
  description: '',
  language: '',
  title: '',
  published: '',
  updated: '',
};

const rss = `<?xml version="1.0"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:d="http://purl.org/dc/elements/1.1/"
     xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:atom="http://www.w3.org/2005/Atom">
<channel>
  <atom:link href="http://x.org/feed" rel="self"/>
  <title>News</title><link>http://x.org/</link><description>All &amp; more</description><language>en</language>
  <copyright>c</copyright><managingEditor>ed@x.org (Ed)</managingEditor><category>one</category>
  <pubDate>Tue, 10 Jun 2003 04:00:00 GMT</pubDate><lastBuildDate>Tue, 10 Jun 2003 09:41:01 GMT</lastBuildDate>
  <image><url>http://x.org/i.png</url><title>i</title></image><mood>good</mood>
  <item>
    <title>First</title><link>http://x.org/1</link><description><![CDATA[<p>short</p>]]></description>
    <content:encoded><![CDATA[<p>long</p>]]></content:encoded>
    <pubDate>Tue, 03 Jun 2003 09:39:21 -0500</pubDate><guid isPermaLink="false">g1</guid>
    <author>me@x.org (Me)</author><d:creator>You</d:creator><category>a</category><category>b</category>
    <enclosure url="http://x.org/a.mp3" length="123" type="audio/mpeg"/>
    <itunes:duration>10:00</itunes:duration><itunes:image href="http://x.org/p.png"/><mood>bad</mood>
  </item>
  <item><title>Second</title></item>
</channel></rss>`;

describe('the RSS decoder', () => {
  it('reads the feed', () => {
    const { items: list, ...feed } = read(plugin, rss)!;
    equal((list as unknown[]).length, 2);
    deepEqual(feed, {
      author: { name: 'Ed', email: 'ed@x.org' },
      categories: ['one'],
      custom: { mood: 'good' },
      copyright: 'c',
      description: 'All & more',
      type: 'rss',
      language: 'en',
      title: 'News',
      published: 'Tue, 10 Jun 2003 04:00:00 GMT',
      updated: 'Tue, 10 Jun 2003 09:41:01 GMT',
      img_url: 'http://x.org/i.png',
    });
  });

  it('reads the items', () => {
    const { extensions, ...item } = items(rss)[0]!;
    deepEqual(item, {
      title: 'First',
      description: '<p>short</p>',
      content: '<p>long</p>',
      link: 'http://x.org/1',
      links: ['http://x.org/1'],
      published: 'Tue, 03 Jun 2003 09:39:21 -0500',
      publishedParsed: '2003-06-03T14:39:21Z',
      author: { name: 'Me', email: 'me@x.org' },
      authors: [{ name: 'Me', email: 'me@x.org' }, { name: 'You' }],
      guid: 'g1',
      image: { url: 'http://x.org/p.png' },
      categories: ['a', 'b'],
      enclosures: [{ url: 'http://x.org/a.mp3', length: '123', type: 'audio/mpeg' }],
      dcExt: { creator: ['You'] },
      itunesExt: { duration: '10:00', image: 'http://x.org/p.png' },
      custom: { mood: 'bad' },
    });
    deepEqual((extensions as DataObject)['dc'], {
      creator: [{ name: 'creator', value: 'You', attrs: {}, children: {} }],
    });
  });

  it('omits fields that an item lacks', () => {
    deepEqual(items(rss)[1], { title: 'Second' });
  });

  it('sets fields that the feed lacks to empty strings and null', () => {
    deepEqual(read(plugin, '<rss><channel/></rss>'), { ...empty, type: 'rss' });
  });

  it('reads RSS 1.0, where items are siblings of the channel', () => {
    const data = read(
      plugin,
      `<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
       <channel><title>T</title><dc:date>2003-01-02</dc:date></channel><image><url>http://x.org/i</url></image>
       <item><title>A</title><dc:date>2003-01-02T03:04:05+01:00</dc:date></item></r:RDF>`,
    )!;
    equal(data['title'], 'T');
    equal(data['published'], '2003-01-02');
    equal(data['img_url'], 'http://x.org/i');
    equal((data['items'] as DataObject[])[0]!['publishedParsed'], '2003-01-02T02:04:05Z');
  });

  it('omits a date that cannot be parsed but keeps its text', () => {
    deepEqual(items('<rss><channel><item><pubDate>soon</pubDate></item></channel></rss>'), [{ published: 'soon' }]);
  });

  it('ignores the collection flag', () => {
    equal(read(plugin, rss, true)!['title'], 'News');
  });

  it('treats names such as __proto__ as plain names', () => {
    const data = read(
      plugin,
      '<rss><channel><__proto__>x</__proto__><item><a:__proto__ __proto__="1"/></item></channel></rss>',
    );
    equal(JSON.stringify(data!['custom']), '{"__proto__":"x"}');
    equal(
      JSON.stringify((data!['items'] as DataObject[])[0]),
      '{"extensions":{"a":{"__proto__":[{"name":"__proto__","value":"","attrs":{"__proto__":"1"},"children":{}}]}}}',
    );
  });
});

describe('the Atom decoder', () => {
  const atom = `<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de"><title>T</title><subtitle>S</subtitle>
    <rights>R</rights><updated>2003-12-13T18:30:02Z</updated><author><name>A</name><email>a@x.org</email></author>
    <category term="t" label="L"/><logo>http://x.org/l.png</logo>
    <entry><title type="html">&lt;b&gt;E&lt;/b&gt;</title><id>urn:1</id><link href="http://x.org/1"/>
      <link rel="enclosure" href="http://x.org/1.mp3" length="5" type="audio/mpeg"/>
      <updated>2003-12-13T18:30:02.25+01:00</updated><published>2003-12-12T00:00:00Z</published><summary>s</summary>
      <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">a &amp; <b>b</b><br/></div></content></entry></feed>`;

  it('reads the feed', () => {
    const { items: list, ...feed } = read(plugin, atom)!;
    equal((list as unknown[]).length, 1);
    deepEqual(feed, {
      author: { name: 'A', email: 'a@x.org' },
      categories: ['L'],
      custom: null,
      copyright: 'R',
      description: 'S',
      type: 'atom',
      language: 'de',
      title: 'T',
      published: '',
      updated: '2003-12-13T18:30:02Z',
      img_url: 'http://x.org/l.png',
    });
  });

  it('reads the entries', () => {
    deepEqual(items(atom), [
      {
        title: '<b>E</b>',
        description: 's',
        content: '<div xmlns="http://www.w3.org/1999/xhtml">a &amp; <b>b</b><br/></div>',
        link: 'http://x.org/1',
        links: ['http://x.org/1'],
        updated: '2003-12-13T18:30:02.25+01:00',
        updatedParsed: '2003-12-13T17:30:02.25Z',
        published: '2003-12-12T00:00:00Z',
        publishedParsed: '2003-12-12T00:00:00Z',
        guid: 'urn:1',
        enclosures: [{ url: 'http://x.org/1.mp3', length: '5', type: 'audio/mpeg' }],
      },
    ]);
  });

  it('reads Atom 0.3', () => {
    const old =
      '<feed version="0.3" xmlns="http://purl.org/atom/ns#"><tagline>t</tagline><entry><issued>2003-12-13T08:29:29-04:00</issued></entry></feed>';
    equal(read(plugin, old)!['description'], 't');
    deepEqual(items(old), [{ published: '2003-12-13T08:29:29-04:00', publishedParsed: '2003-12-13T12:29:29Z' }]);
  });

  it('sets fields that the feed lacks to empty strings and null', () => {
    deepEqual(read(plugin, '<feed/>'), { ...empty, type: 'atom' });
  });
});

describe('the JSON Feed decoder', () => {
  it('reads the feed and its items', () => {
    const data = read(
      plugin,
      JSON.stringify({
        version: 'https://jsonfeed.org/version/1.1',
        title: 'T',
        description: 'D',
        language: 'en',
        icon: 'http://x.org/i',
        authors: [{ name: 'A' }],
        _x: { y: 1 },
        items: [
          {
            id: 7,
            url: 'http://x.org/1',
            title: 'I',
            content_html: '<p>',
            summary: 's',
            image: 'http://x.org/p',
            date_published: '2010-02-07T14:04:00-05:00',
            tags: ['a', 1],
            attachments: [{ url: 'http://x.org/a', mime_type: 'audio/mpeg', size_in_bytes: 5 }],
          },
          {},
        ],
      }),
    );
    deepEqual(data, {
      ...empty,
      type: 'json',
      title: 'T',
      description: 'D',
      language: 'en',
      img_url: 'http://x.org/i',
      author: { name: 'A' },
      custom: { _x: { y: 1 } },
      items: [
        {
          title: 'I',
          description: 's',
          content: '<p>',
          link: 'http://x.org/1',
          links: ['http://x.org/1'],
          published: '2010-02-07T14:04:00-05:00',
          publishedParsed: '2010-02-07T19:04:00Z',
          guid: '7',
          image: { url: 'http://x.org/p' },
          categories: ['a'],
          enclosures: [{ url: 'http://x.org/a', length: '5', type: 'audio/mpeg' }],
        },
        {},
      ],
    });
  });

  it('rejects other JSON', () => {
    throws(() => read(plugin, '{"a":1}'), /not a feed/);
    throws(() => read(plugin, '{'), SyntaxError);
  });
});

describe('bodies other than feeds', () => {
  it('are rejected', () => {
    throws(() => read(plugin, ''), /EOF/);
    throws(() => read(plugin, '<html/>'), /not a feed: root element "html"/);
    throws(() => read(plugin, '<rss/>'), /RSS without a channel/);
    throws(() => read(plugin, '<rss><channel>'), /unclosed tag/);
    throws(() => read(plugin, '[1]'), Error);
  });

  it('are rejected with an error if they are nested too deeply', () => {
    const deep = '<b>'.repeat(10_000) + '</b>'.repeat(10_000);
    throws(() => read(plugin, `<rss><channel><item><title>${deep}</title></item></channel></rss>`), /nested/);
  });
});

describe('dates of feeds', () => {
  for (const [text, date] of [
    ['Tue, 10 Jun 2003 04:00:00 GMT', '2003-06-10T04:00:00Z'],
    ['10 Jun 03 04:00 EST', '2003-06-10T09:00:00Z'],
    ['Tuesday, 1 July 2003 23:30:00 -0130', '2003-07-02T01:00:00Z'],
    ['Tue,  10  Jun 2003\n04:00:00 +02:00', '2003-06-10T02:00:00Z'],
    ['10 Jun 1999', '1999-06-10T00:00:00Z'],
    ['2003-06-10', '2003-06-10T00:00:00Z'],
    ['2003-06-10 04:00', '2003-06-10T04:00:00Z'],
    ['2003-06-10T04:00:00.120Z', '2003-06-10T04:00:00.12Z'],
    ['2003-06-10T04:00:00+0530', '2003-06-09T22:30:00Z'],
    ['31 Feb 2003 00:00:00 GMT', ''],
    ['10 Foo 2003 00:00:00 GMT', ''],
    ['10 Jun 2003 25:00:00 GMT', ''],
    ['10 Jun 2003 04:00:00 XYZ', ''],
    ['10 Jun 2003 04:00:00 toString', ''],
    ['foo 1', ''],
    ['', ''],
  ] as const) {
    it(`reads ${JSON.stringify(text)} as ${date || 'none'}`, () => {
      equal(parseDate(text), date);
    });
  }
});

describe('authors of feeds', () => {
  for (const [text, name, email] of [
    ['me@x.org (Me)', 'Me', 'me@x.org'],
    ['Me You <me@x.org>', 'Me You', 'me@x.org'],
    ['"Me" <me@x.org>', 'Me', 'me@x.org'],
    ['Me (me@x.org)', 'Me', 'me@x.org'],
    ['me@x.org', '', 'me@x.org'],
    ['Me', 'Me', ''],
  ] as const) {
    it(`reads ${JSON.stringify(text)}`, () => {
      deepEqual(person(text), { name, email });
    });
  }
});

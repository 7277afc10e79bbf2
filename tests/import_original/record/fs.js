import {mkdirSync,readdirSync,readFileSync,renameSync,writeFileSync,appendFileSync,existsSync} from "node:fs";
import {join} from "node:path";
import {DatabaseSync} from "node:sqlite";
import {cborEncode,cborDecode,computeHashSync,computeSelfHashSync,BOOTSTRAP_STORE} from "@ocas/core";
export function createFsStore(dir){
  const nodes=join(dir,"nodes"),index=join(dir,"_index");mkdirSync(nodes,{recursive:true});mkdirSync(index,{recursive:true});
  const cache=new Map();
  const path=h=>join(nodes,h+".bin");
  function write(hash,type,payload){if(existsSync(path(hash)))return hash;
    writeFileSync(join(nodes,hash+".tmp"),cborEncode({type,payload,timestamp:Date.now()}));renameSync(join(nodes,hash+".tmp"),path(hash));
    appendFileSync(join(index,type),hash+"\n");return hash}
  return {
    put:(type,payload)=>write(computeHashSync(type,payload),type,payload),
    get(h){if(cache.has(h))return cache.get(h);if(!existsSync(path(h)))return null;const n=cborDecode(readFileSync(path(h)));cache.set(h,n);return n},
    has:h=>existsSync(path(h)),
    listAll:()=>readdirSync(nodes).filter(n=>n.endsWith(".bin")).map(n=>n.slice(0,-4)),
    listByType:t=>existsSync(join(index,t))?readFileSync(join(index,t),"utf8").split("\n").filter(Boolean).map(hash=>({hash})):[],
    [BOOTSTRAP_STORE](payload){const h=computeSelfHashSync(payload);write(h,h,payload);if(!existsSync(join(index,"_meta")))writeFileSync(join(index,"_meta"),h+"\n");return h},
  };
}
export function createSqliteVarStore(dir,cas){
  mkdirSync(dir,{recursive:true});
  const db=new DatabaseSync(join(dir,"_store.db"));
  db.exec("PRAGMA journal_mode = WAL");db.exec("PRAGMA foreign_keys = ON");
  db.exec(`CREATE TABLE IF NOT EXISTS vars (name TEXT NOT NULL, schema TEXT NOT NULL, value TEXT NOT NULL, created INTEGER NOT NULL, updated INTEGER NOT NULL, tags TEXT NOT NULL DEFAULT '{}', labels TEXT NOT NULL DEFAULT '[]', PRIMARY KEY (name, schema));
  CREATE TABLE IF NOT EXISTS var_history (name TEXT NOT NULL, schema TEXT NOT NULL, value TEXT NOT NULL, position INTEGER NOT NULL, set_at INTEGER NOT NULL, PRIMARY KEY (name, schema, position), FOREIGN KEY (name, schema) REFERENCES vars(name, schema) ON DELETE CASCADE);
  CREATE TABLE IF NOT EXISTS tags (target TEXT NOT NULL, key TEXT NOT NULL, value TEXT, created INTEGER NOT NULL, PRIMARY KEY (target, key));`);
  const row=r=>r&&({...r,tags:JSON.parse(r.tags),labels:JSON.parse(r.labels)});
  const v={
    set(name,hash,o){const node=cas.get(hash);if(!node)throw new Error("no node "+hash);const now=Date.now();
      const old=db.prepare("SELECT * FROM vars WHERE name=? AND schema=?").get(name,node.type);
      const tags=JSON.stringify(o?.tags??(old?JSON.parse(old.tags):{})),labels=JSON.stringify(o?.labels??[]);
      if(!old){db.prepare("INSERT INTO vars VALUES (?,?,?,?,?,?,?)").run(name,node.type,hash,now,now,tags,labels);db.prepare("INSERT INTO var_history VALUES (?,?,?,?,?)").run(name,node.type,hash,0,now)}
      else if(old.value!==hash||o!==undefined){db.prepare("UPDATE vars SET value=?,updated=?,tags=?,labels=? WHERE name=? AND schema=?").run(hash,old.value!==hash?now:old.updated,tags,labels,name,node.type)}
      return row(db.prepare("SELECT * FROM vars WHERE name=? AND schema=?").get(name,node.type))},
    get(name,schema){const rows=db.prepare("SELECT * FROM vars WHERE name=?").all(name).filter(r=>!schema||r.schema===schema);return rows.length===1?row(rows[0]):null},
    remove(name,schema){const rows=db.prepare("SELECT * FROM vars WHERE name=?").all(name).filter(r=>!schema||r.schema===schema);for(const r of rows)db.prepare("DELETE FROM vars WHERE name=? AND schema=?").run(name,r.schema);return rows.map(row)},
    list(o={}){let rows=db.prepare("SELECT * FROM vars ORDER BY created,name").all();if(o.exactName!==undefined)rows=rows.filter(r=>r.name===o.exactName);if(o.namePrefix!==undefined)rows=rows.filter(r=>r.name.startsWith(o.namePrefix));if(o.schema)rows=rows.filter(r=>r.schema===o.schema);return rows.map(row)},
    history:()=>[],close(){},
  };
  return {var:v,tag:{tag(){return []},untag(){},tags(){return []},listByTag(){return []}},close(){db.close()}};
}
